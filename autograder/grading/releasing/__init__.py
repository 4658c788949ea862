"""Material that goes out to students: their checks, recorded answers, hints, a page."""
