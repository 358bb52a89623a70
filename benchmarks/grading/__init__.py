"""Tests that the grades of a whole class are right and safe, and that copies are found."""
