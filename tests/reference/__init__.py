"""Reference referees, written from the rules alone, that check the engines."""
