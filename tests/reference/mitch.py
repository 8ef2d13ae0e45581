"""The reference referee for Mitch, written from docs/rules_mitch.md and docs/records.md alone.

It shares no code with the engine and is built to be read beside the rules: cards are strings ("9H", "JK"), hands and
columns are lists of them, and every rule is one short function that cites its ruling (J3, R4, ...). It holds no random
generator: all chance outcomes come in through `Referee.start_deal`.
"""

import copy
from collections import Counter

RANKS = "A23456789TJQK"  # from low to high
SUITS = "SHDC"
JOKER = "JK"

# ------------------------------------------------------------------------------------------------------------------ options

# The table of mitch.md. None stands for "-": the option does not apply.
PRESETS = {
    "mitch_jp": {
        "players": 3, "deals": "players", "hand_size": 5, "clock": "joker", "clock_cards": 3, "column_step": "any_lower",
        "must_place": False, "take_discard": False, "closer_plays": False, "scoring": "suits", "lost_column_penalty": True,
        "tie_break": "high", "shortest_double": False, "waiting_penalty": False, "playoffs": None, "suits": 4, "ranks": 13,
    },
    "mitch_ru": {
        "players": 3, "deals": 1, "hand_size": 5, "clock": "ace_hand", "clock_cards": 3, "column_step": "next_lower",
        "must_place": True, "take_discard": False, "closer_plays": False, "scoring": "longest", "lost_column_penalty": None,
        "tie_break": "high", "shortest_double": None, "waiting_penalty": None, "playoffs": 10, "suits": 4, "ranks": 13,
    },
    "mitch_original": {
        "players": 3, "deals": "players", "hand_size": 5, "clock": "ace_deck", "clock_cards": 3, "column_step": "any_lower",
        "must_place": False, "take_discard": False, "closer_plays": False, "scoring": "suits", "lost_column_penalty": True,
        "tie_break": "high", "shortest_double": False, "waiting_penalty": False, "playoffs": None, "suits": 4, "ranks": 13,
    },
}  # fmt: skip

# What a "-" becomes when it comes to apply, by scoring.
DEFAULTS_THAT_COME_TO_APPLY = {
    "suits": {"lost_column_penalty": True, "shortest_double": False, "waiting_penalty": False},
    "longest": {"playoffs": 10},
}


class RefereeError(ValueError):
    """Something that the rules forbid, said in one sentence."""


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_int_in(low, high):
    return lambda value: _is_int(value) and low <= value and (high is None or value <= high)


def _is_bool(value):
    return isinstance(value, bool)


def _is_one_of(*words):
    return lambda value: isinstance(value, str) and value in words


ALLOWED = {  # option -> (test, what is allowed in words)
    "players": (_is_int_in(2, 5), "2 to 5"),
    "deals": (lambda value: value == "players" or _is_int_in(1, None)(value), '"players" or a whole number from 1 on'),
    "hand_size": (_is_int_in(1, None), "a whole number from 1 on"),
    "clock": (_is_one_of("joker", "ace_stock", "ace_deck", "ace_hand"), "joker, ace_stock, ace_deck or ace_hand"),
    "clock_cards": (_is_int_in(1, 4), "1 to 4"),
    "column_step": (_is_one_of("any_lower", "next_lower"), "any_lower or next_lower"),
    "must_place": (_is_bool, "true or false"),
    "take_discard": (_is_bool, "true or false"),
    "closer_plays": (_is_bool, "true or false"),
    "scoring": (_is_one_of("suits", "longest"), "suits or longest"),
    "lost_column_penalty": (_is_bool, "true or false"),
    "tie_break": (_is_one_of("high", "low"), "high or low"),
    "shortest_double": (_is_bool, "true or false"),
    "waiting_penalty": (_is_bool, "true or false"),
    "playoffs": (_is_int_in(0, None), "a whole number from 0 on"),
    "suits": (_is_int_in(1, 4), "1 to 4"),
    "ranks": (_is_int_in(2, 13), "2 to 13"),
}


def full_options(game, **changes):
    """The options of `game` with `changes`, complete and checked. Options that do not apply may stay None."""
    if not isinstance(game, str) or game not in PRESETS:
        raise RefereeError(f"The game is {game!r}; allowed are {', '.join(PRESETS)}.")
    options = {**PRESETS[game], **changes}
    scoring = options["scoring"]
    if isinstance(scoring, str) and scoring in DEFAULTS_THAT_COME_TO_APPLY:
        for name, default in DEFAULTS_THAT_COME_TO_APPLY[scoring].items():
            if options[name] is None:
                options[name] = default
    check_options(options)
    return options


def idle_options(options):
    """The names of the options that have no effect (or are refused when true) beside the others."""
    idle = {"playoffs"} if options["scoring"] == "suits" else {"lost_column_penalty", "shortest_double", "waiting_penalty"}
    if options["clock"] == "ace_hand":
        idle |= {"take_discard", "closer_plays", "waiting_penalty"}
    return idle


def check_options(options):
    """Raises RefereeError unless `options` holds every option once, each allowed, and together they make a game."""
    for name in options:
        if name not in ALLOWED:
            raise RefereeError(f"The option {name!r} is unknown; there are {', '.join(ALLOWED)}.")
    for name in ALLOWED:
        if name not in options:
            raise RefereeError(f"The option {name} is missing.")
    for name in ("scoring", "clock"):
        _check_value(name, options[name])
    for name, value in options.items():
        if value is None and name in idle_options(options):
            continue
        _check_value(name, value)
    _check_flags_make_sense(options)
    _check_pack_is_large_enough(options)


def _check_value(name, value):
    is_allowed, words = ALLOWED[name]
    if not is_allowed(value):
        raise RefereeError(f"The option {name} is {value!r}; allowed is {words}.")


def _check_flags_make_sense(options):
    if options["clock"] == "ace_hand":
        for name in ("take_discard", "closer_plays", "waiting_penalty"):
            if options[name]:
                raise RefereeError(f"The option {name} is true; with clock ace_hand only false is allowed.")
    if options["scoring"] == "longest":
        for name in ("shortest_double", "waiting_penalty"):
            if options[name]:
                raise RefereeError(f"The option {name} is true; with scoring longest only false is allowed.")


def _check_pack_is_large_enough(options):
    n_aces, n_cards = options["suits"], options["suits"] * options["ranks"]
    if options["clock"] != "joker" and options["clock_cards"] > n_aces:
        raise RefereeError(f"The option clock_cards is {options['clock_cards']}; the pack has aces for 1 to {n_aces}.")
    n_can_be_dealt = n_cards - n_aces if options["clock"] in ("ace_stock", "ace_deck") else n_cards
    n_dealt = options["players"] * options["hand_size"]
    if n_dealt > n_can_be_dealt:
        raise RefereeError(
            f"The option hand_size is {options['hand_size']}; with {options['players']} players that is {n_dealt} cards "
            f"and allowed are {n_can_be_dealt}, all that this pack can deal."
        )


def pack(options):
    """All cards of the (short) pack without jokers: the first suits of S H D C, the lowest ranks."""
    return [rank + suit for suit in SUITS[: options["suits"]] for rank in RANKS[: options["ranks"]]]


def is_ace(card):
    return card[0] == "A"


def rank_of(card):
    """The place of the card's rank from low to high: A is 0, K is 12."""
    return RANKS.index(card[0])


# ------------------------------------------------------------------------------------------------------------------ referee


class Referee:
    """One match of Mitch.

    `deal_over` is true whenever no deal is being played: then `expected_deal` says who deals the next one and `start_deal`
    takes its chance outcome. While a deal is played `actor` is the seat that must answer with one of `legal()`.
    """

    def __init__(self, options):
        check_options(options)
        self.options = dict(options)
        self.n_players = options["players"]
        self.n_regular_deals = self.n_players if options["deals"] == "players" else options["deals"]
        # the match
        self.regular_deals_dealt = 0
        self.playoffs_dealt = 0  # since the last regular deal (R7)
        self.tied = []  # the seats that play off in the next deal; empty before a regular deal
        self.scores = []  # for each finished deal the points by seat
        # the deal
        self.deal_over = True
        self.actor = None
        self.asks_draw_or_take = False  # else the actor is asked for a card of the hand
        self.dealer = None
        self.seats = []
        self.hands = [[] for _ in range(self.n_players)]
        self.tableaus = [{} for _ in range(self.n_players)]  # by seat: suit -> cards from top to bottom
        self.stock = []  # the next card to draw first
        self.discard_pile = []  # the top card last
        self.clock_pile = []  # markers turned up or laid, in order; under ace_hand the ace pile
        self.had_chance = [False] * self.n_players  # J6
        self.has_placed = [False] * self.n_players  # J6

    # ---- views

    @property
    def match_over(self):
        return self.deal_over and not self.tied and self.regular_deals_dealt == self.n_regular_deals

    @property
    def totals(self):
        return [sum(points[seat] for points in self.scores) for seat in range(self.n_players)]

    def winners(self):
        """The seats with the highest total; equal totals share the win. Empty until the match is over."""
        return _seats_with_most(self.totals) if self.match_over else []

    def hand(self, seat):
        return list(self.hands[seat])

    def columns(self, seat):
        """suit -> cards from top to bottom; only suits that have a column."""
        return {suit: list(column) for suit, column in self.tableaus[seat].items()}

    @property
    def discards(self):
        return list(self.discard_pile)

    @property
    def stock_left(self):
        return len(self.stock)

    @property
    def clock_seen(self):
        return len(self.clock_pile)

    @property
    def closed(self):
        """Whether the stock is closed: the closing clock card is out, or nothing is left to draw (R4)."""
        return len(self.clock_pile) >= self.options["clock_cards"] or not self.stock

    def leaders(self):
        """suit -> the seat whose column is the longest now (J8 between equal lengths), None where nobody has one."""
        return {suit: self._leader(suit) for suit in SUITS[: self.options["suits"]]}

    def clone(self):
        twin = copy.copy(self)
        for name in ("tied", "scores", "seats", "stock", "discard_pile", "clock_pile", "had_chance", "has_placed"):
            setattr(twin, name, list(getattr(self, name)))
        twin.hands = [list(hand) for hand in self.hands]
        twin.tableaus = [self.columns(seat) for seat in range(self.n_players)]
        return twin

    # ---- between deals

    def expected_deal(self):
        """(dealer, seats that take part in seat order) of the next deal."""
        if self.match_over:
            raise RefereeError("The match is over: no further deal may follow.")
        if not self.deal_over:
            raise RefereeError("The last deal is still being played.")
        if self.tied:  # R7: the next tied seat clockwise after the last dealer
            return self._next_clockwise(self.dealer, self.tied), list(self.tied)
        # J1: the last seat deals first. R7: play-offs between do not move the dealer of the regular deals.
        dealer = (self.n_players - 1 + self.regular_deals_dealt) % self.n_players
        return dealer, list(range(self.n_players))

    def start_deal(self, dealer, seats, hands, stock, revealed=()):
        """Takes the chance outcome of the next deal and plays on to the first decision.

        Args:
            dealer, seats: must be `expected_deal()`.
            hands: by seat, after any replacement of revealed aces; [] for a seat that sits out.
            stock: in the order in which it will be drawn (J2: after the clock cards were shuffled in).
            revealed: the aces turned up while dealing, clock ace_deck only (J3).
        """
        expected_dealer, expected_seats = self.expected_deal()
        if not _is_int(dealer) or dealer != expected_dealer:
            raise RefereeError(f"The dealer is {dealer!r}, but seat{expected_dealer} must deal.")
        if not isinstance(seats, (list, tuple)) or not all(map(_is_int, seats)) or list(seats) != expected_seats:
            raise RefereeError(f"The seats are {seats!r}, but {expected_seats} must take part.")
        _check_chance(self.options, expected_seats, hands, stock, revealed)

        if self.tied:
            self.playoffs_dealt += 1
        else:
            self.regular_deals_dealt += 1
            self.playoffs_dealt = 0  # R7: the limit counts anew for each deal
        self.tied = []
        self.deal_over = False
        self.dealer = dealer
        self.seats = list(seats)
        self.hands = [list(hand) for hand in hands]
        self.tableaus = [{} for _ in range(self.n_players)]
        self.stock = list(stock)
        self.discard_pile = []
        self.clock_pile = list(revealed)  # J3: aces that are dealt count for the clock
        self.had_chance = [False] * self.n_players
        self.has_placed = [False] * self.n_players
        self._pass_turn_after(dealer)  # the seat to the left of the dealer acts first

    # ---- moves

    def legal(self):
        """The legal moves of the actor, sorted; empty between deals."""
        if self.actor is None:
            return []
        if self.asks_draw_or_take:
            return sorted(["draw", f"take {self.discard_pile[-1]}"])
        return sorted(self._legal_card_moves())

    def _legal_card_moves(self):
        hand = self.hands[self.actor]
        placements = [f"play {card}" for card in hand if self._can_place(self.actor, card)]
        # R3: an ace is never discarded under ace_hand, it is laid on the ace pile (R5: in stage 2 too)
        others = [f"ace {card}" if self._is_marker(card) else f"discard {card}" for card in hand]
        if placements and self._binds_must_place():
            return placements
        return placements + others

    def _binds_must_place(self):
        """R1: only while the stock is open; J11: so a closer is free. J10: never between draw and take."""
        return self.options["must_place"] and not self.closed

    def _can_place(self, seat, card):
        """Whether the card may be laid into the tableau of the seat."""
        if self._is_marker(card):
            return False
        column = self.tableaus[seat].get(card[1])
        if not column:
            return True  # a column starts with any card
        if self.options["column_step"] == "next_lower":
            return rank_of(card) == rank_of(column[-1]) - 1
        return rank_of(card) < rank_of(column[-1])

    def _is_marker(self, card):
        """With an ace clock the aces are markers only."""
        return card == JOKER or (is_ace(card) and self.options["clock"] != "joker")

    def _can_take_discard(self, seat):
        """J4: the top discard, if it can go into the own tableau at once, while the stock is open."""
        return bool(
            self.options["take_discard"]
            and not self.closed
            and self.discard_pile
            and self._can_place(seat, self.discard_pile[-1])
        )

    def apply(self, move):
        """Carries out a legal move and plays on to the next decision or to the end of the deal."""
        if self.actor is None:
            raise RefereeError(f"The move {move!r} comes while no deal is being played.")
        legal = self.legal()
        if not isinstance(move, str) or move not in legal:
            raise RefereeError(f"The move {move!r} of seat{self.actor} is illegal; legal are {', '.join(legal)}.")
        seat = self.actor
        self._note_waiting(seat, move, legal)
        if move == "draw":
            self._draw_then_ask(seat)
        elif move.startswith("take "):
            self._place(seat, self.discard_pile.pop())
            self._pass_turn_after(seat)  # J4: the turn ends, the hand stays as it is
        else:
            verb, card = move.split()
            self.hands[seat].remove(card)
            if verb == "play":
                self._place(seat, card)
            elif verb == "discard":
                self.discard_pile.append(card)
            elif verb == "ace":
                self.clock_pile.append(card)
            self._refill_hand(seat)
            self._pass_turn_after(seat)

    def _place(self, seat, card):
        self.tableaus[seat].setdefault(card[1], []).append(card)

    def _refill_hand(self, seat):
        """Russian stage 1: after the move draw one card. R2: not after the closing ace, R4: not from an empty stock."""
        if self.options["clock"] == "ace_hand" and not self.closed:
            self.hands[seat].append(self.stock.pop(0))

    def _note_waiting(self, seat, move, legal):
        """J6: chances to place while the stock is open, and placements (taking is one). J11: a closer's are neither."""
        if self.closed:
            return
        if any(_is_placement(choice) for choice in legal):
            self.had_chance[seat] = True
        if _is_placement(move):
            self.has_placed[seat] = True

    # ---- what happens by itself

    def _pass_turn_after(self, seat):
        """The turn passes to the left; an empty hand is skipped; the deal ends when all are empty."""
        with_cards = [other for other in self.seats if self.hands[other]]
        if with_cards:
            self._begin_turn(self._next_clockwise(seat, with_cards))
        else:
            self._end_deal()

    def _begin_turn(self, seat):
        if self.options["clock"] == "ace_hand" or self.closed:
            self._ask(seat)
        elif self._can_take_discard(seat):
            self._ask(seat, draw_or_take=True)  # J4: asked for only when taking is legal
        else:
            self._draw_then_ask(seat)

    def _ask(self, seat, draw_or_take=False):
        self.actor = seat
        self.asks_draw_or_take = draw_or_take

    def _draw_then_ask(self, seat):
        """Draws until a card comes that is no marker, then asks for a card; the last marker closes the stock."""
        while True:
            card = self.stock.pop(0)
            if not self._is_marker(card):
                self.hands[seat].append(card)
                self._ask(seat)
                return
            self.clock_pile.append(card)
            if self.closed:
                break
        if self.options["closer_plays"]:
            self._ask(seat)  # J5
        else:
            self._pass_turn_after(seat)  # who drew the last marker neither plays nor discards

    def _next_clockwise(self, seat, among):
        """The first of the seats `among` after `seat`; `seat` itself comes last."""
        for step in range(1, self.n_players + 1):
            candidate = (seat + step) % self.n_players
            if candidate in among:
                return candidate
        raise AssertionError(f"there is nobody among {among}")

    def _end_deal(self):
        self.deal_over = True
        self.actor = None
        self.asks_draw_or_take = False
        if self.options["scoring"] == "suits":
            self.scores.append(self._score_suits())
            return
        best = self._seats_with_longest_column()
        if len(best) > 1 and self.playoffs_dealt < self.options["playoffs"]:
            self.tied = best  # R7
            self.scores.append([0] * self.n_players)  # R8: a tied deal that a play-off follows gives 0 to all
        else:
            self.scores.append([1 if seat in best else 0 for seat in range(self.n_players)])  # R8

    # ---- scoring

    def _column_value(self, column):
        """What compares columns: the length, then the bottom card (J8: higher or lower wins)."""
        bottom = rank_of(column[-1])
        return len(column), bottom if self.options["tie_break"] == "high" else -bottom

    def _leader(self, suit):
        owners = [seat for seat in range(self.n_players) if self.tableaus[seat].get(suit)]
        if not owners:
            return None
        return max(owners, key=lambda seat: self._column_value(self.tableaus[seat][suit]))

    def _score_suits(self):
        points = [0] * self.n_players
        shortest = self._shortest_winning_length()
        for suit, winner in self.leaders().items():
            for seat in range(self.n_players):
                length = len(self.tableaus[seat].get(suit, []))
                if seat == winner:
                    doubles = self.options["shortest_double"] and length == shortest  # J7
                    points[seat] += 8 if doubles else 4
                elif self.options["lost_column_penalty"]:  # J9
                    points[seat] -= length
        for seat in range(self.n_players):
            points[seat] -= self._waiting_points(seat)
        return points

    def _shortest_winning_length(self):
        """J7: the fewest cards among the columns that won a suit; None if nobody laid a card."""
        lengths = [len(self.tableaus[winner][suit]) for suit, winner in self.leaders().items() if winner is not None]
        return min(lengths, default=None)

    def _waiting_points(self, seat):
        """J6: 10 for who could have placed a card while the stock was open and placed none."""
        waited = self.had_chance[seat] and not self.has_placed[seat]
        return 10 if self.options["waiting_penalty"] and waited else 0

    def _seats_with_longest_column(self):
        """Longest column of any suit, then its bottom card. R6: without any column all who took part are tied."""
        best_by_seat = {}
        for seat in self.seats:
            if self.tableaus[seat]:
                best_by_seat[seat] = max(self._column_value(column) for column in self.tableaus[seat].values())
        if not best_by_seat:
            return list(self.seats)
        return [seat for seat, value in best_by_seat.items() if value == max(best_by_seat.values())]


def _is_placement(move):
    return move.startswith(("play ", "take "))


def _seats_with_most(points):
    return [seat for seat, value in enumerate(points) if value == max(points)]


# ------------------------------------------------------------------------------------------------------ the chance outcome


def _check_chance(options, seats, hands, stock, revealed):
    """Raises RefereeError unless hands, stock and revealed aces can have come out of a deal to these seats."""
    _check_card_list("the stock", stock)
    _check_card_list("the revealed aces", revealed)
    if not isinstance(hands, (list, tuple)) or len(hands) != options["players"]:
        raise RefereeError(f"The hands must be a list of {options['players']} hands, one for each seat.")
    for seat, hand in enumerate(hands):
        _check_card_list(f"the hand of seat{seat}", hand)
        size = options["hand_size"] if seat in seats else 0
        if len(hand) != size:
            raise RefereeError(f"The hand of seat{seat} has {len(hand)} cards, but it must have {size}.")
    in_hands = [card for hand in hands for card in hand]
    _check_markers(options, in_hands, list(stock), list(revealed))
    _check_each_card_once(options, in_hands, list(stock), list(revealed))


def _check_card_list(name, cards):
    if not isinstance(cards, (list, tuple)) or not all(isinstance(card, str) for card in cards):
        raise RefereeError(f"There must be a list of cards for {name}.")


def _check_markers(options, in_hands, stock, revealed):
    """Where the markers of each clock may be: jokers only in the stock, aces by clock."""
    clock, n_clock = options["clock"], options["clock_cards"]
    aces_in_hands = [card for card in in_hands if card.startswith("A")]
    aces_in_stock = [card for card in stock if card.startswith("A")]
    n_jokers = n_clock if clock == "joker" else 0
    if JOKER in in_hands:
        raise RefereeError("A dealt hand holds a joker; jokers are shuffled into the stock after the deal (J2).")
    if stock.count(JOKER) != n_jokers:
        raise RefereeError(f"The stock has {stock.count(JOKER)} jokers, but it must have {n_jokers}.")
    if clock in ("ace_stock", "ace_deck") and aces_in_hands:
        raise RefereeError(f"A hand holds {aces_in_hands[0]}, but with clock {clock} no hand ever holds an ace.")
    if clock == "ace_stock" and len(aces_in_stock) != n_clock:
        raise RefereeError(f"The stock has {len(aces_in_stock)} aces, but it must have {n_clock} (J2).")
    if revealed and clock != "ace_deck":
        raise RefereeError(f"Aces are revealed, but with clock {clock} none is turned up while dealing.")
    for card in revealed:  # J3, J12: as many as come, in any order; each was a dealt card or a replacement
        if not card.startswith("A"):
            raise RefereeError(f"The revealed card {card} is no ace.")


def _check_each_card_once(options, in_hands, stock, revealed):
    found = Counter(in_hands + revealed + [card for card in stock if card != JOKER])
    whole = pack(options)
    for card, number in found.items():
        if card not in whole:
            raise RefereeError(f"The card {card!r} is not in the pack.")
        if number > 1:
            raise RefereeError(f"The card {card} is there {number} times.")
    for card in whole:
        is_unused = options["clock"] == "ace_stock" and is_ace(card)  # the rest of the aces is unused
        if card not in found and not is_unused:
            raise RefereeError(f"The card {card} is missing.")


# ------------------------------------------------------------------------------------------------------------------ records


def check_record(record):
    """Replays a whole record; returns one sentence for each problem, an empty list if all is right."""
    if not isinstance(record, dict):
        return ["The record is not a JSON object."]
    problems = _header_problems(record)
    options, option_problems = _options_of_record(record)
    problems += option_problems
    if options is None:
        return problems
    agents = record.get("agents")
    if not isinstance(agents, list) or len(agents) != options["players"] or not all(isinstance(name, str) for name in agents):
        problems.append(f"The agents must be a list of {options['players']} names.")
    if not isinstance(record.get("deals"), list):
        return [*problems, "The deals must be a list."]
    referee = Referee(options)
    for number, deal in enumerate(record["deals"], 1):
        if referee.match_over:
            problems.append(f"There are {len(record['deals'])} deals, but the match is over after {number - 1}.")
            break
        deal_problems, is_finished = _replay_deal(referee, deal, f"Deal {number}")
        problems += deal_problems
        if not is_finished:
            return problems
    if not referee.match_over:
        return [*problems, f"Deals are missing: after {len(record['deals'])} the match is not over."]
    if not _is_same_int_list(record.get("totals"), referee.totals):
        problems.append(f"The totals are {record.get('totals')!r}, but they must be {referee.totals}.")
    if not _is_same_int_list(record.get("winners"), referee.winners()):
        problems.append(f"The winners are {record.get('winners')!r}, but they must be {referee.winners()}.")
    return problems


def _header_problems(record):
    problems = []
    if record.get("format") != "mitch-record":
        problems.append(f"The format is {record.get('format')!r}, but it must be 'mitch-record'.")
    if not _is_int(record.get("version")) or record["version"] != 1:
        problems.append(f"The version is {record.get('version')!r}, but it must be 1.")
    if "seed" not in record or not (record["seed"] is None or _is_int(record["seed"])):
        problems.append("The seed must be there and be a whole number or null.")
    if record.get("truncated") is not False:
        problems.append(f"truncated is {record.get('truncated')!r}, but Mitch always ends by itself.")
    return problems


def _options_of_record(record):
    """(full options or None, problems): every option that applies must be there with its value."""
    given = record.get("options")
    if not isinstance(given, dict):
        return None, ["The options must be an object."]
    if not all(isinstance(name, str) for name in given):
        return None, ["The names of the options must be strings."]
    try:
        options = full_options(record.get("game"), **given)
    except RefereeError as error:
        return None, [str(error)]
    except TypeError:  # an option named like the parameter `game`
        return None, ["The options hold 'game', which is no option."]
    left_out = [name for name in ALLOWED if given.get(name) is None and name not in idle_options(options)]
    return options, [f"The option {name} applies, but its value is left out." for name in left_out]


def _replay_deal(referee, deal, where):
    """(problems, whether the deal could be replayed to its end)."""
    if not isinstance(deal, dict):
        return [f"{where} is not an object."], False
    problems = []
    if not isinstance(deal.get("reshuffles"), list) or deal["reshuffles"]:
        problems.append(f"{where}: reshuffles must be [], Mitch never shuffles again.")
    try:
        referee.start_deal(deal.get("dealer"), deal.get("seats"), deal.get("hands"), deal.get("stock"), deal.get("revealed"))
    except RefereeError as error:
        return [*problems, f"{where}: {error}"], False
    if not isinstance(deal.get("moves"), list):
        return [*problems, f"{where}: the moves must be a list."], False
    for number, entry in enumerate(deal["moves"], 1):
        if referee.deal_over:
            problems.append(f"{where}: there are {len(deal['moves'])} moves, but the deal is over after {number - 1}.")
            break
        move_problems, is_done = _replay_move(referee, entry, f"{where}, move {number}")
        problems += move_problems
        if not is_done:
            return problems, False
    if not referee.deal_over:
        return [*problems, f"{where}: moves are missing, seat{referee.actor} must still move."], False
    if not _is_same_int_list(deal.get("scores"), referee.scores[-1]):
        problems.append(f"{where}: the scores are {deal.get('scores')!r}, but they must be {referee.scores[-1]}.")
    return problems, True


def _replay_move(referee, entry, where):
    """(problems, whether the move could be carried out)."""
    if not isinstance(entry, dict):
        return [f"{where} is not an object."], False
    problems = []
    if not _is_int(entry.get("seat")) or entry["seat"] != referee.actor:
        problems.append(f"{where}: the seat is {entry.get('seat')!r}, but seat{referee.actor} must move.")
    if "legal" in entry:
        problems += _legal_problems(entry["legal"], referee.legal(), where)
    try:
        referee.apply(entry.get("move"))
    except RefereeError as error:
        return [*problems, f"{where}: {error}"], False
    return problems, True


def _legal_problems(recorded, legal, where):
    if not isinstance(recorded, list) or not all(isinstance(move, str) for move in recorded):
        return [f"{where}: legal must be a list of moves."]
    too_many, missing = sorted(set(recorded) - set(legal)), sorted(set(legal) - set(recorded))
    if too_many or missing:
        return [f"{where}: legal has {too_many} too many and lacks {missing}."]
    return []


def _is_same_int_list(recorded, expected):
    return isinstance(recorded, list) and all(map(_is_int, recorded)) and recorded == expected


# ----------------------------------------------------------------------------------------------------------------- counting


def count_positions_by_depth(options, hands, stock, revealed=()):
    """How many histories of 0, 1, 2, ... decisions this one deal has: the whole tree of legal moves, level by level.

    The deal is a first deal (dealer by J1, everybody takes part), whatever `deals` and `playoffs` say.
    """
    referee = Referee({**options, "deals": 1, "playoffs": 0})
    referee.start_deal(*referee.expected_deal(), hands, stock, revealed)
    counts = []
    _count_from(referee, 0, counts)
    return counts


def _count_from(referee, depth, counts):
    if depth == len(counts):
        counts.append(0)
    counts[depth] += 1
    for move in referee.legal():
        child = referee.clone()
        child.apply(move)
        _count_from(child, depth + 1, counts)


def count_nodes(options, hands, stock, revealed=()):
    """The number of nodes of that tree: all decision histories, with the root and the finished ones."""
    return sum(count_positions_by_depth(options, hands, stock, revealed))
