"""Reference referee for Mitchell, written from the rules alone: plain, slow, obvious.

It knows no engine. It checks one: `Referee` plays a match whose chance outcomes are given to it, `check_record` replays
a game record, `count_positions_by_depth` counts move sequences. Rulings (M1 to M28) are
those of docs/rules_mitchell.md, notation and records those of docs/records.md.
"""

import copy
from collections import Counter

SUITS = ("stakeout", "car-chase", "brawl", "crime-scene", "off-duty")
ACTIONS = ("change", "force-two", "move", "give")
REACTIONS = ("cancel", "revenge")
CENTER = "center"

WINNER_POINTS = 200
CAUGHT_POINTS = -100
INVESTIGATION_POINTS = 10
ACTION_OR_REACTION_POINTS = 5


def _default_deck():
    """M1: 60 investigations, half of them with a function, 32 actions, 16 reactions."""
    deck = {}
    for suit in SUITS:
        deck[suit] = 6
        deck[suit + "+attract"] = 2
        deck[suit + "+anywhere"] = 2
        deck[suit + "+center"] = 2
    for kind in ACTIONS + REACTIONS:
        deck[kind] = 8
    return deck


DEFAULT_DECK = _default_deck()
KINDS = tuple(DEFAULT_DECK)

# M27: `rounds` has a default, so that every match ends.
DEFAULTS = {
    "players": 4,
    "target_score": 1000,
    "rounds": 100,
    "hand_size": 7,
    "deck": DEFAULT_DECK,
    "unplayed": "bonus",
    "release_wins": True,
    "ask_everyone": False,
    "max_turns": 10000,
}


class RefereeError(ValueError):
    """Something was handed in that the rules do not allow; the text is one sentence."""


# ---- cards ----


def suit_of(kind):
    """The suit of an investigation, None for an action or reaction."""
    suit = kind.split("+")[0]
    return suit if suit in SUITS else None


def function_of(kind):
    """'attract', 'anywhere' or 'center', None for a card without a function."""
    return kind.split("+")[1] if "+" in kind else None


def card_points(kind):
    return INVESTIGATION_POINTS if suit_of(kind) else ACTION_OR_REACTION_POINTS


def seat_name(seat):
    return f"seat{seat}"


def seat_or_center(word):
    return CENTER if word == CENTER else int(word.removeprefix("seat"))


# ---- options ----


def _is_int(value):
    return isinstance(value, int) and not isinstance(value, bool)


def _is_kind(value):
    return isinstance(value, str) and value in DEFAULT_DECK


def _is_list_of_kinds(value):
    return isinstance(value, (list, tuple)) and all(_is_kind(kind) for kind in value)


def full_options(**changes):
    """Every option with its value: the defaults with these changes."""
    options = copy.deepcopy(DEFAULTS)
    options.update(changes)
    return options


def deck_problems(deck):
    """M1: counts by kind, kinds that are not named count 0, at most 255 cards in all."""
    if not isinstance(deck, dict):
        return [f"options: deck must be counts by kind, not {deck!r}."]
    problems = [f"options: deck names an unknown kind {kind!r}." for kind in deck if not _is_kind(kind)]
    for kind, count in deck.items():
        if not _is_int(count) or count < 0:
            problems.append(f"options: deck count of {kind!r} must be an integer >= 0, not {count!r}.")
    if not problems and sum(deck.values()) > 255:
        problems.append(f"options: deck must have at most 255 cards, not {sum(deck.values())}.")
    return problems


def option_problems(options):
    """One sentence for each thing that is wrong with a full options dict."""
    if not isinstance(options, dict):
        return [f"options must be an object, not {options!r}."]
    problems = [f"options: unknown option {name!r}." for name in options if name not in DEFAULTS]
    missing = [f"options: {name} is missing." for name in DEFAULTS if name not in options]
    if missing:
        return problems + missing
    players, hand_size, target = options["players"], options["hand_size"], options["target_score"]
    if not _is_int(players) or not 2 <= players <= 8:
        problems.append(f"options: players must be 2 to 8, not {players!r}.")
    if target is not None and (not _is_int(target) or target <= 0):
        problems.append(f"options: target_score must be an integer > 0 or none, not {target!r}.")
    for name in ("rounds", "hand_size", "max_turns"):
        if not _is_int(options[name]) or options[name] < 1:
            problems.append(f"options: {name} must be an integer >= 1, not {options[name]!r}.")
    if options["unplayed"] not in ("bonus", "penalty"):
        problems.append(f"options: unplayed must be bonus or penalty, not {options['unplayed']!r}.")
    for name in ("release_wins", "ask_everyone"):
        if not isinstance(options[name], bool):
            problems.append(f"options: {name} must be true or false, not {options[name]!r}.")
    problems += deck_problems(options["deck"])
    if not problems and sum(options["deck"].values()) < players * hand_size + 1:
        problems.append(f"options: deck must have at least {players * hand_size + 1} cards (players x hand_size + 1).")
    return problems


# ---- the referee ----


class Referee:
    """One match, played out with chance outcomes that are handed in.

    State, all readable, none of it to be written from outside:
        hands: by seat, a list of kinds in the order in which they came.
        stock: the first card is drawn next. discards: the last card is the top.
        suit: a suit or None. mitchell: "center" or a seat. turn: the seat whose turn it is (or was, after the round).
        actor: the seat that must decide now, or None.
        deal_over, truncated; scores: a list by seat for each round, None for a truncated one.
        reshuffle_queue: new stocks that are queued and not yet used.

    Args:
        options: every option with its value.
        shuffle: called with the cards to shuffle (bottom of the pile first) when a reshuffle is due and none is
            queued; returns the new stock. Without it such a reshuffle is an error.

    A call that raises inside `apply` because of a reshuffle leaves the referee in the middle of a turn: throw it away.
    """

    def __init__(self, options, shuffle=None):
        problems = option_problems(options)
        if problems:
            raise RefereeError(problems[0])
        self.options = copy.deepcopy(options)
        self.n_players = options["players"]
        self.shuffle = shuffle
        self.reshuffle_queue = []
        self.scores = []
        self.truncated = False
        self.deal_over = True
        self._clear_table()

    def _clear_table(self):
        """A round begins with Mitchell in the center, no suit and no discard."""
        self.hands = [[] for _ in self.seats]
        self.stock = []
        self.discards = []
        self.suit = None
        self.mitchell = CENTER
        self.turn = None
        self.actor = None
        self.drawn_card = None  # the card just drawn on the own turn, while the actor decides about it
        self.pending = None  # the action that is not fully resolved yet, see _open_window
        self.n_turns = 0
        self.n_idle_turns = 0  # turns in a row without a card played or drawn, M13
        self.played_out = set()  # seats that played their last card in this turn, M10
        self.known_cards = {x: {j: Counter() for j in self.seats if j != x} for x in self.seats}

    # -- what can be read --

    @property
    def seats(self):
        return list(range(self.n_players))

    @property
    def match_over(self):
        """M24: `rounds` and `target_score` are looked at between rounds only."""
        if not self.deal_over:
            return False
        target = self.options["target_score"]
        reached = target is not None and max(self.totals) >= target
        return self.truncated or reached or len(self.scores) >= self.options["rounds"]

    @property
    def totals(self):
        """M20: sums over the finished rounds."""
        return [sum(scores[seat] for scores in self.scores if scores is not None) for seat in self.seats]

    def winners(self):
        """M17, M20: the seats with the highest total share the win."""
        return [seat for seat in self.seats if self.totals[seat] == max(self.totals)]

    def hand(self, seat):
        return sorted(self.hands[seat])

    def hand_sizes(self):
        """M15: public."""
        return [len(hand) for hand in self.hands]

    @property
    def stock_left(self):
        return len(self.stock)

    @property
    def top(self):
        return self.discards[-1] if self.discards else None

    @property
    def drawn(self):
        """The drawn card that the actor may play, or None."""
        return self.drawn_card

    @property
    def window(self):
        """None, or the open reaction window as everybody sees it (M6: without the card to give).

        `asked` holds the seats that have declined so far, in order, by choice or by themselves (M8).
        """
        if self.pending is None:
            return None
        public = {name: self.pending[name] for name in ("action", "by", "target", "suit")}
        public["asked"] = list(self.pending["asked"])
        return public

    def known(self, seat):
        """What `seat` knows of the other hands from gifts: other seat -> Counter of kinds (at least so many)."""
        return copy.deepcopy(self.known_cards[seat])

    # -- chance --

    def expected_deal(self):
        """M2: (dealer, seats) of the next round. Seat 0 starts the first, each later one the next seat clockwise."""
        if self.match_over:
            raise RefereeError("the match is over: no further round is dealt.")
        starter = len(self.scores) % self.n_players
        return (starter - 1) % self.n_players, self.seats

    def start_deal(self, dealer, seats, hands, stock, revealed=()):
        """Take the chance outcome of a round and play on to the first decision, or to the round's end."""
        if not self.deal_over:
            raise RefereeError("the last round is not over.")
        if self.reshuffle_queue:
            raise RefereeError(f"reshuffles: {len(self.reshuffle_queue)} queued that never happened.")
        self._check_deal(dealer, seats, hands, stock, revealed)
        self._clear_table()
        self.hands = [list(hand) for hand in hands]
        self.stock = list(stock)
        self.turn = (dealer + 1) % self.n_players
        self.deal_over = False
        self._run_turns()

    def _check_deal(self, dealer, seats, hands, stock, revealed):
        expected_dealer, expected_seats = self.expected_deal()
        if not _is_int(dealer) or dealer != expected_dealer:
            raise RefereeError(f"dealer must be {expected_dealer}, not {dealer!r} (M2).")
        if not _same_ints(seats, expected_seats):
            raise RefereeError(f"seats must be {expected_seats}, not {seats!r}.")
        if not isinstance(revealed, (list, tuple)) or len(revealed) > 0:
            raise RefereeError(f"revealed must be empty in Mitchell, not {revealed!r}.")
        if not isinstance(hands, (list, tuple)) or len(hands) != self.n_players:
            raise RefereeError(f"hands must be {self.n_players} hands.")
        for seat, hand in enumerate(hands):
            if not _is_list_of_kinds(hand) or len(hand) != self.options["hand_size"]:
                raise RefereeError(f"hands: seat{seat} must hold {self.options['hand_size']} cards, not {hand!r}.")
        if not _is_list_of_kinds(stock):
            raise RefereeError("stock must be a list of kinds.")
        dealt = Counter(kind for cards in [*hands, stock] for kind in cards)
        for kind in KINDS:
            count = self.options["deck"].get(kind, 0)
            if dealt[kind] != count:
                raise RefereeError(f"hands and stock hold {dealt[kind]} of {kind}, the deck has {count} (M1).")

    def queue_reshuffle(self, cards):
        """Give the new stock, in draw order, for the next reshuffle that has none yet."""
        if not _is_list_of_kinds(cards):
            raise RefereeError(f"reshuffles: a new stock must be a list of kinds, not {cards!r}.")
        self.reshuffle_queue.append(list(cards))

    def _reshuffle(self):
        """M12: all discards but the top one become the new stock; if there are none, nothing happens."""
        cards = self.discards[:-1]
        if not cards:
            return
        if self.reshuffle_queue:
            new_stock = self.reshuffle_queue.pop(0)
        elif self.shuffle:
            new_stock = list(self.shuffle(list(cards)))
        else:
            raise RefereeError(f"reshuffles: one is missing, of {len(cards)} cards (M12).")
        if sorted(new_stock) != sorted(cards):
            raise RefereeError(f"reshuffles: {new_stock} is not an order of the discards but the top, {cards} (M12).")
        self.stock = new_stock
        self.discards = self.discards[-1:]

    # -- small steps --

    def clockwise_from(self, seat):
        """M25: all seats, clockwise, beginning with this one."""
        return [(seat + step) % self.n_players for step in range(self.n_players)]

    def _draw(self, seat):
        """Draw one card into the hand; the kind, or None if there is nothing to draw (M12)."""
        if not self.stock:
            self._reshuffle()
        if not self.stock:
            return None
        kind = self.stock.pop(0)
        self.hands[seat].append(kind)
        return kind

    def _play_to_discards(self, seat, kind):
        """A card goes from the hand onto the discard pile, for all to see."""
        self.hands[seat].remove(kind)
        self.discards.append(kind)
        if not self.hands[seat]:
            self.played_out.add(seat)
        for x in self.seats:
            if x != seat:
                _lower(self.known_cards[x][seat], kind)

    def _hand_over(self, giver, receiver, kind):
        """M6: the gift changes hands; only giver and receiver learn which card it is."""
        self.hands[giver].remove(kind)
        self.hands[receiver].append(kind)
        for x in self.seats:
            if x == giver:
                self.known_cards[x][receiver][kind] += 1
            elif x == receiver:
                _lower(self.known_cards[x][giver], kind)
            else:
                for each in list(self.known_cards[x][giver]):
                    _lower(self.known_cards[x][giver], each)

    # -- what may be played on a turn --

    def fits(self, kind):
        """Whether an investigation fits: no suit yet, the suit, or the function of an uncovered investigation (M3)."""
        if self.suit is None or suit_of(kind) == self.suit:
            return True
        function = function_of(kind)
        return function is not None and self.top is not None and function_of(self.top) == function

    def can_play(self, seat, kind):
        """Whether the seat may play this card of its hand on its own turn. M19: actions need no suit."""
        if kind in REACTIONS:
            return False
        if kind == "give":
            return len(self.hands[seat]) >= 2  # never as the only card, M11
        return kind in ACTIONS or self.fits(kind)

    def _moves_of_card(self, seat, kind):
        """All ways in which the seat can play this card on its turn."""
        others = [seat_name(other) for other in self.seats if other != seat]
        places = [CENTER] + [seat_name(each) for each in self.seats]
        if kind == "change":
            return [f"change {suit}" for suit in SUITS]
        if kind == "force-two":
            return [f"force-two {other}" for other in others]
        if kind == "give":
            rest = list(self.hands[seat])
            rest.remove("give")
            return [f"give {other} {card}" for other in others for card in rest]
        if kind == "move" or function_of(kind) == "anywhere":
            return [f"{kind} {place}" for place in places]
        return [kind]

    def legal(self):
        """All legal moves of the actor, sorted; empty when nobody decides."""
        if self.actor is None:
            return []
        hand = self.hands[self.actor]
        if self.pending is not None:
            moves = ["decline"] + [kind for kind in hand if kind in REACTIONS]
        elif self.drawn_card is not None:
            moves = ["pass"] + self._moves_of_card(self.actor, self.drawn_card)  # M26
        else:
            playable = [kind for kind in hand if self.can_play(self.actor, kind)]
            moves = [move for kind in playable for move in self._moves_of_card(self.actor, kind)]
        return sorted(set(moves))

    # -- the course of a turn --

    def _run_turns(self):
        """Begin turns until somebody must decide or the round is over."""
        while self.actor is None and not self.deal_over:
            self._begin_turn()

    def _begin_turn(self):
        """Decide if the hand has something to play, else draw, by itself; then decide on the drawn card (M26)."""
        seat = self.turn
        self.played_out = set()
        if any(self.can_play(seat, kind) for kind in self.hands[seat]):
            self.actor = seat
            return
        drawn = self._draw(seat)
        if drawn is not None and self.can_play(seat, drawn):
            self.drawn_card = drawn
            self.actor = seat
            return
        self._end_turn(is_idle=drawn is None)

    def apply(self, move):
        """Carry out the actor's move and play on to the next decision or to the round's end."""
        if self.actor is None:
            raise RefereeError(f"move {move!r}: nobody has a decision.")
        if not isinstance(move, str) or move not in self.legal():
            raise RefereeError(f"move {move!r} is not legal for seat{self.actor}.")
        seat, self.actor, self.drawn_card = self.actor, None, None
        if self.pending is not None:
            self._answer(seat, move)
        elif move == "pass":
            self._end_turn(is_idle=False)
        else:
            self._play(seat, *move.split())
        self._run_turns()

    def _play(self, seat, kind, *words):
        self._play_to_discards(seat, kind)
        if kind in ACTIONS:
            self._open_window(seat, kind, *words)
        else:
            self._investigate(seat, kind, *words)
            self._end_turn(is_idle=False)

    def _investigate(self, seat, kind, place=None):
        """A played investigation sets the suit; its function always happens and nobody can react."""
        self.suit = suit_of(kind)
        function = function_of(kind)
        if function == "attract":
            self.mitchell = seat
        elif function == "center":
            self.mitchell = CENTER
        elif function == "anywhere":
            self.mitchell = seat_or_center(place)

    # -- actions and reactions --

    def _open_window(self, by, action, word, card=None):
        """The action card lies on the pile (M7), its effect waits until all have answered."""
        self.pending = {
            "action": action,
            "by": by,
            "target": None if action == "change" else seat_or_center(word),
            "suit": word if action == "change" else None,
            "card": card,  # M6: chosen now, it stays in the hand until the action takes effect
            "waiting": [],
            "asked": [],
        }
        self.pending["waiting"] = self._asking_order()
        self._ask_next()

    def _asking_order(self):
        """From the first, clockwise once round the table, the player of the action left out (M18, M25)."""
        by = self.pending["by"]
        return [seat for seat in self.clockwise_from(self._first_asked()) if seat != by]

    def _first_asked(self):
        """The player affected; if nobody is, the one who has Mitchell; else the next clockwise (M4, M5, M23)."""
        by, target = self.pending["by"], self.pending["target"]
        if target is not None and target not in (CENTER, by):
            return target
        if self.mitchell not in (CENTER, by):
            return self.mitchell
        return (by + 1) % self.n_players

    def _ask_next(self):
        """M8: those without a reaction card decline by themselves, unless everyone is asked (M23)."""
        while self.pending["waiting"]:
            seat = self.pending["waiting"][0]
            if self.options["ask_everyone"] or any(kind in REACTIONS for kind in self.hands[seat]):
                self.actor = seat
                return
            self._note_decline()
        self._resolve(reaction=None)

    def _note_decline(self):
        self.pending["asked"].append(self.pending["waiting"].pop(0))

    def _answer(self, seat, move):
        if move == "decline":
            self._note_decline()
            self._ask_next()
        else:
            self._play_to_discards(seat, move)
            self._resolve(reaction=move)

    def _resolve(self, reaction):
        """M7: first the effect of the action, then the draw that the reaction forces. M16: drawn cards wait."""
        by = self.pending["by"]
        if reaction != "cancel":
            self._take_effect()
        for _ in range({None: 0, "cancel": 1, "revenge": 2}[reaction]):
            self._draw(by)
        self.pending = None
        self._end_turn(is_idle=False)

    def _take_effect(self):
        """What an action does; a cancelled one never comes here (M21)."""
        action, by, target = self.pending["action"], self.pending["by"], self.pending["target"]
        if action == "change":
            self.suit = self.pending["suit"]
        elif action == "force-two":
            self._draw(target)
            self._draw(target)
        elif action == "move":
            self.mitchell = target
        elif action == "give":
            self._hand_over(by, target, self.pending["card"])
            self.mitchell = by

    # -- the end of a turn, of a round --

    def _end_turn(self, is_idle):
        """M20: every finished turn counts; the order is winner, blocked, truncated."""
        self.n_turns += 1
        self.n_idle_turns = self.n_idle_turns + 1 if is_idle else 0
        winner = self._round_winner()
        if winner is not None:
            self._end_round([self._round_points(seat, winner) for seat in self.seats])
        elif self.n_idle_turns >= self.n_players:
            self._end_round([0 for _ in self.seats])  # M13
        elif self.n_turns >= self.options["max_turns"]:
            self.truncated = True
            self._end_round(None)
        else:
            self.turn = self.clockwise_from(self.turn)[1]

    def _end_round(self, scores):
        self.scores.append(scores)
        self.deal_over = True

    def _round_winner(self):
        """M9: of those who qualify the one whose turn it was, then clockwise. None if nobody does."""
        for seat in self.clockwise_from(self.turn):
            if not self.hands[seat] and self.mitchell != seat and self._may_win_now(seat):
                return seat
        return None

    def _may_win_now(self, seat):
        """M10: without `release_wins` only in a turn in which the player played the last card."""
        return self.options["release_wins"] or seat in self.played_out

    def _round_points(self, seat, winner):
        if seat == winner:
            return WINNER_POINTS
        if seat == self.mitchell:
            return CAUGHT_POINTS  # M22: and nothing for cards
        points = sum(card_points(kind) for kind in self.hands[seat])
        return points if self.options["unplayed"] == "bonus" else -points  # M14


def _lower(counter, kind):
    """One less of this kind, not below 0."""
    if counter[kind] > 1:
        counter[kind] -= 1
    else:
        del counter[kind]


# ---- records ----


def _same_ints(value, expected):
    return isinstance(value, (list, tuple)) and all(_is_int(item) for item in value) and list(value) == expected


def check_record(record):
    """Replay a whole record; one sentence for each problem, an empty list if all is right.

    The replay stops where it can no longer be followed: at a wrong deal, an illegal move or a wrong reshuffle.
    """
    if not isinstance(record, dict):
        return ["the record must be an object."]
    problems = _header_problems(record)
    bad_options = option_problems(record.get("options"))
    if bad_options:
        return problems + bad_options
    deals = record.get("deals")
    if not isinstance(deals, list):
        return [*problems, "deals must be a list."]
    referee = Referee(record["options"])
    problems += _agents_problems(record.get("agents"), referee.n_players)
    for number, deal in enumerate(deals):
        if referee.match_over:
            problems.append(f"deals: {len(deals)} rounds, but the match was over after {number}.")
            break
        texts, can_go_on = _deal_problems(referee, deal)
        problems += [f"deal {number}: {text}" for text in texts]
        if not can_go_on:
            return problems
    if not referee.match_over:
        return [*problems, f"deals: rounds are missing, the match is not over after {len(deals)}."]
    return problems + _result_problems(record, referee)


def _header_problems(record):
    problems = []
    if record.get("format") != "mitch-record":
        problems.append(f"format must be 'mitch-record', not {record.get('format')!r}.")
    if not _is_int(record.get("version")) or record["version"] != 1:
        problems.append(f"version must be 1, not {record.get('version')!r}.")
    if record.get("game") != "mitchell":
        problems.append(f"game must be 'mitchell', not {record.get('game')!r}.")
    if record.get("seed") is not None and not _is_int(record["seed"]):
        problems.append(f"seed must be an integer, not {record['seed']!r}.")
    return problems


def _agents_problems(agents, n_players):
    """Names of agents are free, but if they are there each seat has one."""
    if agents is None:
        return []
    if not isinstance(agents, list) or not all(isinstance(name, str) for name in agents) or len(agents) != n_players:
        return [f"agents must be {n_players} names, not {agents!r}."]
    return []


def _deal_problems(referee, deal):
    """(sentences, whether the replay can go on) for one round; plays the round."""
    if not isinstance(deal, dict):
        return ["it must be an object."], False
    try:
        referee.start_deal(*(deal.get(name) for name in ("dealer", "seats", "hands", "stock", "revealed")))
        if not isinstance(deal.get("reshuffles"), list):
            return [f"reshuffles must be a list, not {deal.get('reshuffles')!r}."], False
        for cards in deal["reshuffles"]:
            referee.queue_reshuffle(cards)
    except RefereeError as error:
        return [str(error)], False
    if not isinstance(deal.get("moves"), list):
        return [f"moves must be a list, not {deal.get('moves')!r}."], False
    problems = []
    for number, entry in enumerate(deal["moves"]):
        if referee.deal_over:
            problems.append(f"moves: {len(deal['moves']) - number} left over, the round was over after {number}.")
            break
        texts, can_go_on = _move_problems(referee, entry)
        problems += [f"move {number}: {text}" for text in texts]
        if not can_go_on:
            return problems, False
    if not referee.deal_over:
        return [*problems, f"moves are missing, the round is not over after {len(deal['moves'])}."], False
    if referee.reshuffle_queue:
        problems.append(f"reshuffles: {len(referee.reshuffle_queue)} left over that never happened.")
        referee.reshuffle_queue.clear()
    return problems + _score_problems(deal, referee.scores[-1]), True


def _move_problems(referee, entry):
    """(sentences, whether the replay can go on) for one entry of `moves`; applies the move."""
    if not isinstance(entry, dict):
        return ["it must be an object."], False
    problems = []
    seat, move, legal = entry.get("seat"), entry.get("move"), referee.legal()
    if not _is_int(seat) or seat != referee.actor:
        problems.append(f"seat must be {referee.actor}, not {seat!r}.")
    if "legal" in entry:
        problems += _legal_problems(entry["legal"], legal)
    try:
        referee.apply(move)
    except RefereeError as error:
        return [*problems, str(error)], False
    return problems, True


def _legal_problems(named, legal):
    """`legal` is compared as a set."""
    if not isinstance(named, list) or not all(isinstance(move, str) for move in named):
        return [f"legal must be a list of moves, not {named!r}."]
    problems = [f"legal lacks {move!r}." for move in legal if move not in named]
    return problems + [f"legal names {move!r}, which is not legal." for move in sorted(set(named)) if move not in legal]


def _score_problems(deal, scores):
    if scores is None:  # M20
        right = "scores" in deal and deal["scores"] is None
    else:
        right = _same_ints(deal.get("scores"), scores)
    return [] if right else [f"scores must be {scores}, not {deal.get('scores')!r}."]


def _result_problems(record, referee):
    problems = []
    for name, expected in (("totals", referee.totals), ("winners", referee.winners())):
        if not _same_ints(record.get(name), expected):
            problems.append(f"{name} must be {expected}, not {record.get(name)!r}.")
    if record.get("truncated") is not referee.truncated:
        problems.append(f"truncated must be {referee.truncated}, not {record.get('truncated')!r}.")
    return problems


# ---- perft ----


def count_positions_by_depth(options, hands, stock, depth):
    """Number of move sequences of each length 0 to `depth` from this deal of the first round.

    Sequences end with the round. A reshuffle keeps the order of the pile: the card discarded first is drawn first.
    """
    start = Referee(options, shuffle=list)
    start.start_deal(*start.expected_deal(), hands, stock)
    counts = [0] * (depth + 1)
    waiting = [(start, 0)]
    while waiting:
        referee, n_moves = waiting.pop()
        counts[n_moves] += 1
        if n_moves == depth:
            continue
        for move in referee.legal():
            child = copy.deepcopy(referee)
            child.apply(move)
            waiting.append((child, n_moves + 1))
    return counts
