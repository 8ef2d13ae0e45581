"""Mitchell: play all your cards while detective Mitchell stands in front of somebody else.

The complete rules, with every ruling, are in ``docs/rules_mitchell.md``.

## Usage

```python
>>> from mitch_env import mitchell_v0
>>> env = mitchell_v0.env(players=4)
>>> env.reset(seed=7)
>>> observation, reward, terminated, truncated, info = env.last()
>>> env.agent_selection, int(observation["action_mask"].sum()), env.legal_moves()[0]
('player_0', 12, 'stakeout')
>>> env.step(env.parse_action('stakeout'))
>>> env.agent_selection
'player_1'
```

It is registered with PettingZoo as `mitch_env/mitchell-v0`, and with Gymnasium, one learning seat among opponents, as
`mitch_env/Mitchell-v0`. Many tables at once: `mitch_env.Batch("mitchell", 1024)`.

## Rules

- Seven cards to each player. On a turn who can play a card must play one: an investigation that fits, or any action.
- An investigation fits by its suit, or by its function if the last investigation has the same one and lies uncovered.
- Who cannot play draws a card, and may play it if it fits.
- Functions and actions move Mitchell, change the suit, make others draw, give cards away.
- To an action the opponents may react, one after the other, beginning with who is affected, until one does: cancel it, or let
  its player draw two cards for it. Only who has a reaction is asked, unless `ask_everyone` is on.
- Who has no cards and not Mitchell wins the round: 200 points. Who has Mitchell then loses 100; the others score their cards.
- The first to have 1000 points ends the match; the highest total wins.

## Arguments

| option | values | default | meaning |
| --- | --- | --- | --- |
| `players` | 2 to 8 | 4 | how many play |
| `target_score` | 1 or more | 1000 | points that end the match; `None`: only `rounds` ends it |
| `rounds` | 1 or more | 100 | the most rounds; 1 is the quick game |
| `hand_size` | 1 or more | 7 | cards dealt to each player |
| `deck` | counts by kind | 108 cards | a mapping such as `{"brawl": 6, "change": 8}`; at most 255 cards, at least players x hand_size + 1 (M1) |
| `unplayed` | `bonus`, `penalty` | `bonus` | whether cards left are points or cost them (M14) |
| `release_wins` | `false`, `true` | `true` | having Mitchell taken away with an empty hand wins (M10) |
| `ask_everyone` | `false`, `true` | `false` | all opponents are asked for a reaction, so that the order of decisions gives nothing away (M8) |
| `max_turns` | 1 or more | 10000 | turns in a round before the match is truncated (M20) |

The default deck: for each suit 6 investigations without a function and 2 with each, 8 of each action and of each reaction.

| setting | values | default | meaning |
| --- | --- | --- | --- |
| `reward` | `points`, `relative`, `outcome` | `points` | what is paid, see Rewards |
| `seats_encoded` | players to 8 | players | how many seats observations and actions are numbered for |
| `observation` | `flat`, `dict`, `history`, `tokens` | `flat` | the form of observations, see Observation space |
| `render_mode` | `ansi`, `human`, `rgb_array` | - | text, text that is printed, or a picture |
| `render_seat` | 0 to players - 1 | - | whose hand is shown; by default that of the seat that is to act |

## Action space

`Discrete(33 N + 3)` for N encoded seats: `Discrete(135)` for 4. Kinds of cards are numbered: for each suit (stakeout, car chase, brawl, crime
scene, off duty) without a function, with attract, with center; then for each suit with anywhere; change, force-two, move, give,
cancel, revenge. Places are the center, the actor, then the others clockwise.

| count | move | meaning |
| --- | --- | --- |
| 15 | `brawl`, `brawl+attract`, `brawl+center` | play that investigation |
| 5 (N + 1) | `brawl+anywhere seat1` | play it and move Mitchell to each place |
| 5 | `change off-duty` | the suit becomes that one |
| N - 1 | `force-two seat1` | that seat draws two cards |
| N + 1 | `move center` | Mitchell goes to each place |
| 26 (N - 1) | `give seat1 brawl` | give that seat a card of each kind |
| 1 | `pass` | keep the card just drawn |
| 3 | `cancel`, `revenge`, `decline` | answer an action |

The `action_mask` of an observation is int8[33 N + 3]: 1 for what is legal, all 0 for a seat that is not to act.

## Observation space

`observation` is float32[313] for 4 seats, in [0, 1]; version 1. Seats are counted clockwise from the observer. While others are asked for
a reaction nothing changes in it, and `turn` is who plays the action.

| block | entries | at | meaning |
| --- | --- | --- | --- |
| `playable` | 26 | 0 to 25 | kinds of the own hand that fit now, on an own turn |
| `drawn` | 26 | 26 to 51 | the card just drawn, while the observer may play it |
| `discards` | 26 | 52 to 77 | cards discarded since the last reshuffle / cards of the kind in the deck |
| `unseen` | 26 | 78 to 103 | cards in the stock or in other hands without being known / cards of the kind in the deck |
| `suit` | 6 | 104 to 109 | the current suit; there is none yet |
| `top` | 6 | 110 to 115 | top of the discards: an investigation without function, with attract, with center, with anywhere; an action or reaction, which covers it; no discard yet |
| `action` | 4 | 116 to 119 | the action that waits for answers, played by whose turn it is: change, force-two, move, give |
| `action_suit` | 5 | 120 to 124 | the suit that a waiting change names |
| `center` | 2 | 125 to 126 | Mitchell is in the center; a waiting move sends him there |
| `known` | 4 x 26 | 127 to 230 | n cards as n / (1 + n): the own hand; what gifts must have left in others |
| `hand_size` | 4 x 4 | 231 to 246 | n cards in hand: none; one; two; n / (7 + n) |
| `mitchell` | 4 x 1 | 247 to 250 | before whom Mitchell stands |
| `target` | 4 x 1 | 251 to 254 | whom the waiting action is aimed at, or to whom it moves Mitchell |
| `turn` | 4 x 1 | 255 to 258 | whose turn it is |
| `total` | 4 x 1 | 259 to 262 | match score t as 0.5 + 0.5 t / (500 + abs(t)) |
| `decision` | 3 | 263 to 265 | the observer must: play a card; play or keep the drawn card; answer the waiting action |
| `stock` | 2 | 266 to 267 | cards in the stock / cards in the deck; there are none |
| `round` | 5 | 268 to 272 | t turns done as t / (50 + t); turns in a row in which nobody played or drew / 8; n reshuffles as n / (1 + n); 1 / (turns until the match is truncated); 1 / (rounds until it ends) |
| `players` | 7 | 273 to 279 | option players: 2 to 8 |
| `rules` | 3 | 280 to 282 | options: unplayed is penalty; release_wins; ask_everyone |
| `sizes` | 4 | 283 to 286 | hand_size h as h / (7 + h); whether a target_score is set; it as t / (1000 + t); cards in the deck / 255 |
| `deck` | 26 | 287 to 312 | option deck: n cards as n / (6 + n) |

### Forms

`observation=` chooses what stands under `observation`; all else stays as it is.

| form | content |
| --- | --- |
| `flat` | float32[313]: the blocks above, one after another |
| `dict` | the same blocks by name: float32[entries], or float32[4, entries] for those by seat |
| `history` | `flat`, and `events`: int32[32, 6], the last public events, oldest first, after rows of 0 |
| `tokens` | each entry of `flat` that is not 0: `tokens`, int32[246, 3]: its block (1 is `playable`; 0: no token), seat and entry in the block; `amounts`, float32[246]: what stands there |

### Events

| column | values | meaning |
| --- | --- | --- |
| `event` | 0 to 10 | what happened; 0: nothing yet |
| `seat` | 0 to 3 | who did it, clockwise from the observer |
| `card` | 0 to 26 | 1 + the kind of the card that is played; 0: none |
| `suit` | 0 to 5 | 1 + the suit that a change names; 0: none |
| `target` | 0 to 5 | 1: the center; 2 + the seat that a card is aimed at, clockwise from the observer |
| `number` | 0 to 255 | cards drawn; for a round its number, modulo 256 |

| event | who |
| --- | --- |
| 1 | deals |
| 2 | plays a card on the own turn |
| 3 | reacts |
| 4 | draws |
| 5 | has played nothing in this turn |
| 6 | shuffles the discards |
| 7 | wins the round |
| 8 | is caught by Mitchell |
| 9 | ends the round without points: nobody can play or draw |
| 10 | ends the match: there were too many turns |

## Rewards

The points of a round, to all seats, in the step that ends it; a blocked round (M13) and a truncated one (M20) pay nothing.

`reward="relative"` pays the same minus the mean over the seats. `reward="outcome"` pays at the match's end only: the winners share
+1, the others share -1; if all tie, 0 each.

## Starting state

Shuffled and dealt from the seed; seat 0 starts the first round, each later one the next seat clockwise (M2). The deal of a round does
not depend on how the rounds before it were played.

## Episode end

All agents terminate together with the round in which somebody reaches `target_score`, or the last of `rounds`. All are truncated
together when a round has had `max_turns` turns; the totals are then those of the finished rounds.

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
    return TableEnv(get_game("mitchell"), **settings)


raw_env = env
