"""`autograde demo`: an invented class hands in a notebook and is graded like a real one."""
