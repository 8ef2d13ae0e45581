"""The game that the Mitchell engine plays."""

from __future__ import annotations

from ..game import Game, Rules
from . import actions, cards, describe, draw, events, observation, options, redeal, rules, state, symmetry, text

RULES = Rules(
    name="mitchell",
    table_dtype=state.TABLE,
    max_seats=options.MAX_PLAYERS,
    start_match=rules.start_match,
    shuffle_deal=cards.shuffle_deal,
    open_deal=rules.open_deal,
    apply_action=rules.apply_action,
    is_legal=actions.is_legal,
    legal_actions=actions.legal_actions,
    pick_legal=actions.pick_legal,
    observe=observation.observe,
    write_state=observation.write_state,
    redeal_hidden=redeal.redeal_hidden,
    layout=observation.layout,
    state_layout=observation.state_layout,
    most_tokens=observation.most_tokens,
    write_event=events.write_event,
    event_columns=events.columns,
    event_kinds=events.KINDS,
    action_labels=text.action_labels,
    action_name=text.action_name,
    parse_action=text.parse_action,
    phase_name=text.phase_name,
    describe=describe.describe,
    event_text=describe.event_text,
    deal_words=text.deal_words,
    arrange_deal=text.arrange_deal,
    stock_words=text.stock_words,
    arrange_reshuffle=text.arrange_reshuffle,
    taking_part=text.taking_part,
    canonical=symmetry.canonical,
    relabel=symmetry.relabel,
    rename_action=symmetry.rename_action,
    inverse=symmetry.inverse,
    renamings=symmetry.renamings,
    renamed_entries=symmetry.renamed_entries,
    draw_table=draw.draw_table,
)

MITCHELL = Game("mitchell", "mitchell_v0", RULES, options.MitchellOptions())
