"""The games that the Mitch engine plays: one set of rules, three traditions."""

from __future__ import annotations

from ..game import Game, Rules
from . import actions, describe, draw, events, observation, options, rules, state, symmetry, text

RULES = Rules(
    name="mitch",
    table_dtype=state.TABLE,
    max_seats=options.MAX_PLAYERS,
    start_match=rules.start_match,
    shuffle_deal=rules.shuffle_deal,
    open_deal=rules.open_deal,
    apply_action=rules.apply_action,
    is_legal=actions.is_legal,
    legal_actions=actions.legal_actions,
    pick_legal=actions.pick_legal,
    observe=observation.observe,
    write_state=observation.write_state,
    redeal_hidden=rules.redeal_hidden,
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

MITCH_JP = Game("mitch_jp", "mitch_jp_v0", RULES, options.JP)
MITCH_RU = Game("mitch_ru", "mitch_ru_v0", RULES, options.RU)
MITCH_ORIGINAL = Game("mitch_original", "mitch_original_v0", RULES, options.ORIGINAL)
