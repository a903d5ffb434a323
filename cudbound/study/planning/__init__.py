"""Sample sizes for an interval of a given width: closed forms, and simulation from a pilot or a world."""
