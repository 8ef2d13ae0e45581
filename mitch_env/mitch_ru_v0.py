"""Russian Mitch: columns fall one rank at a time, aces are laid on a pile; the longest column of all wins.

The complete rules, with every ruling, are in ``docs/rules_mitch.md``.

## Usage

```python
>>> from mitch_env import mitch_ru_v0
>>> env = mitch_ru_v0.env(players=3)
>>> env.reset(seed=7)
>>> observation, reward, terminated, truncated, info = env.last()
>>> env.agent_selection, int(observation["action_mask"].sum()), env.legal_moves()[0]
('player_0', 5, 'play 2S')
>>> env.step(env.parse_action("play 2S"))
>>> env.agent_selection
'player_1'
```

It is registered with PettingZoo as `mitch_env/mitch_ru-v0`, and with Gymnasium, one learning seat among opponents, as
`mitch_env/MitchRu-v0`. Many tables at once: `mitch_env.Batch("mitch_ru", 1024)`.

## Rules

- Five cards to each player, aces among them; the rest is the stock.
- A turn with the stock open: lay a card that fits the own columns. If none does, discard one or lay an ace on the ace pile. Then
  draw a card.
- A card fits if it is exactly one rank lower than the bottom card of the column of its suit; any card but an ace may start one.
- The third ace on the pile closes the stock; who laid it does not draw.
- Then each turn is one card of the hand, laid, discarded, or an ace on the pile, until all hands are empty.
- The longest column on the table wins the deal; between equals the higher bottom card decides. If that is equal too, the tied
  players play off, at most ten times.
- A match is one deal.

## Arguments

| option | values | default | meaning |
| --- | --- | --- | --- |
| `players` | 2 to 5 | 3 | how many play |
| `deals` | `players`, 1 or more | 1 | deals in a match; `players`: as many as there are players |
| `hand_size` | 1 or more | 5 | cards dealt to each player |
| `clock` | `joker`, `ace_stock`, `ace_deck`, `ace_hand` | `ace_hand` | what the clock cards are and where they lie |
| `clock_cards` | 1 to 4 | 3 | the clock card that closes the stock; with jokers also how many there are |
| `column_step` | `any_lower`, `next_lower` | `next_lower` | whether ranks may be skipped in a column |
| `must_place` | `false`, `true` | `true` | with the stock open, who can lay a card must (R1) |
| `take_discard` | `false`, `true` | `false` | the top discard may be taken instead of drawing (J4) |
| `closer_plays` | `false`, `true` | `false` | who turns up the last clock card still plays (J5) |
| `scoring` | `suits`, `longest` | `longest` | points for each suit, or for the longest column of all |
| `lost_column_penalty` | `false`, `true` | - | a column that did not win costs a point a card (J9) |
| `tie_break` | `high`, `low` | `high` | which bottom card wins between columns of equal length (J8) |
| `shortest_double` | `false`, `true` | - | the shortest winning column counts double (J7) |
| `waiting_penalty` | `false`, `true` | - | minus 10 for who could lay and did not while the stock was open (J6) |
| `playoffs` | 0 or more | 10 | the most play-offs after a tie (R7) |
| `suits` | 1 to 4 | 4 | suits in the pack, the first of S H D C |
| `ranks` | 2 to 13 | 13 | ranks in the pack, the lowest of A 2 3 ... K |

`-` means that an option does not apply; its value is then `None`.

| setting | values | default | meaning |
| --- | --- | --- | --- |
| `reward` | `points`, `relative`, `outcome` | `points` | what is paid, see Rewards |
| `seats_encoded` | players to 5 | players | how many seats observations and actions are numbered for |
| `observation` | `flat`, `dict`, `history`, `tokens` | `flat` | the form of observations, see Observation space |
| `render_mode` | `ansi`, `human`, `rgb_array` | - | text, text that is printed, or a picture |
| `render_seat` | 0 to players - 1 | - | whose hand is shown; by default that of the seat that is to act |

## Action space

`Discrete(106)` for all options. A card is suit x 13 + rank, suits S H D C, ranks A 2 ... K.

| action | move | meaning |
| --- | --- | --- |
| 0 to 51 | `play` | lay that card at the bottom of the own column of its suit |
| 52 to 103 | `discard`, `ace` | discard that card, or lay that ace on the ace pile (R3) |
| 104 | `draw` | never asked for here; with another clock see `take_discard` (J4) |
| 105 | `take` | likewise |

The `action_mask` of an observation is int8[106]: 1 for what is legal, all 0 for a seat that is not to act.

## Observation space

`observation` is float32[544] for 3 seats, in [0, 1]; version 1. Seats are counted clockwise from the observer.

| block | entries | at | meaning |
| --- | --- | --- | --- |
| `hand` | 52 | 0 to 51 | cards of the own hand |
| `layable` | 52 | 52 to 103 | cards of the own hand that fit the own columns now |
| `discards` | 52 | 104 to 155 | cards on the discard pile |
| `unseen` | 52 | 156 to 207 | cards that lie in other hands, in the stock, or out of play: not seen by the observer |
| `top_discard` | 17 | 208 to 224 | rank, then suit, of the top discard |
| `skips` | 52 | 225 to 276 | for each layable card: cards of the own hand and unseen ones between it and the bottom, / 12 |
| `clock_aces` | 4 | 277 to 280 | suits whose ace lies face up as a clock card |
| `tableau` | 3 x 52 | 281 to 436 | cards laid |
| `bottom` | 3 x 4 | 437 to 448 | for each suit: rank of the bottom card / 13 (A is 1), 0 for no column |
| `length` | 3 x 4 | 449 to 460 | for each suit: cards in the column / 13 |
| `reach` | 3 x 4 | 461 to 472 | for each suit: unseen cards that fit the column / 13 |
| `leads` | 3 x 4 | 473 to 484 | suits in which the seat has the best column now |
| `hand_size` | 3 x 1 | 485 to 487 | cards in hand / (option hand_size + 1) |
| `total` | 3 x 1 | 488 to 490 | match score t as 0.5 + 0.5 t / (20 + abs(t)) |
| `turn` | 3 x 1 | 491 to 493 | whose turn it is |
| `dealer` | 3 x 1 | 494 to 496 | who dealt |
| `taking_part` | 3 x 1 | 497 to 499 | who plays this deal (not all in a play-off) |
| `waited` | 3 x 1 | 500 to 502 | who decided, or decides now, with the stock open and has placed nothing while it was |
| `clock_seen` | 5 | 503 to 507 | clock cards face up: 0 to 4 |
| `clock_left` | 5 | 508 to 512 | clock cards still to come until the stock closes: 0 to 4 |
| `stock` | 2 | 513 to 514 | cards in the stock / 56; whether the stock is closed |
| `phase` | 2 | 515 to 516 | the decision of the seat whose turn it is: to draw or take; to lay or discard |
| `match` | 3 | 517 to 519 | 1 / (1 + regular deals after this one); whether this is a play-off; 1 / (1 + play-offs still possible) |
| `players` | 4 | 520 to 523 | option players: 2 to 5 |
| `clock` | 4 | 524 to 527 | option clock: joker, ace_stock, ace_deck, ace_hand |
| `clock_cards` | 4 | 528 to 531 | option clock_cards: 1 to 4 |
| `rules` | 9 | 532 to 540 | options: column_step is next_lower; must_place; take_discard; closer_plays; scoring is longest; lost_column_penalty; tie_break is low; shortest_double; waiting_penalty |
| `sizes` | 3 | 541 to 543 | options: hand_size / 52; suits / 4; ranks / 13 |

### Forms

`observation=` chooses what stands under `observation`; all else stays as it is.

| form | content |
| --- | --- |
| `flat` | float32[544]: the blocks above, one after another |
| `dict` | the same blocks by name: float32[entries], or float32[3, entries] for those by seat |
| `history` | `flat`, and `events`: int32[32, 4], the last public events, oldest first, after rows of 0 |
| `tokens` | each entry of `flat` that is not 0: `tokens`, int32[185, 3]: its block (1 is `hand`; 0: no token), seat and entry in the block; `amounts`, float32[185]: what stands there |

### Events

| column | values | meaning |
| --- | --- | --- |
| `event` | 0 to 7 | what happened; 0: nothing yet |
| `seat` | 0 to 2 | who did it, clockwise from the observer |
| `card` | 0 to 53 | 1 + the card, suit x 13 + rank; 53: a joker; 0: none |
| `number` | 0 to 255 | for a deal or play-off its number, modulo 256 |

| event | who |
| --- | --- |
| 1 | deals |
| 2 | lays a card |
| 3 | discards a card |
| 4 | takes the top discard into the own column |
| 5 | lays an ace on the ace pile |
| 6 | turns up a clock card |
| 7 | deals a play-off |

## Rewards

1 to the winner of a deal, and to each of several who share it, in the step that ends it; 0 to the others. A tied deal that a
play-off follows pays nothing.

`reward="relative"` pays the same minus the mean over the seats. `reward="outcome"` pays at the match's end only: the winners share
+1, the others share -1; if all tie, 0 each.

## Starting state

Shuffled and dealt from the seed; the last seat deals, so seat 0 acts first (J1).

## Episode end

All agents terminate together when the last deal is scored. Nothing is ever truncated.

## Version history

- v0: the first version.
"""  # noqa: E501 - rows of tables

from __future__ import annotations

from typing import Any

from .aec import TableEnv
from .registry import get_game

__all__ = ["env", "raw_env"]


def env(**settings: Any) -> TableEnv:
    """The environment; ``settings`` are options by name and those of :class:`~mitch_env.aec.TableEnv`."""
    return TableEnv(get_game("mitch_ru"), **settings)


raw_env = env
