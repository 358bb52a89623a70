"""The data of a course: gradebook, people, groups, late days, points by hand, the term."""
