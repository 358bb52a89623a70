"""From answers, which are not trusted, to a verdict: what is wrong, where, and which known mistake it is."""
