"""`autograde demo`: a made-up class hands in a notebook, and is graded as a real one would be."""
