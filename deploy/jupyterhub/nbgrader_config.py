"""nbgrader's settings for everybody on the hub: /etc/jupyter/nbgrader_config.py. See docs/jupyterhub.md."""

c = get_config()  # noqa: F821, nbgrader provides it

c.CourseDirectory.course_id = "bert"
c.Exchange.root = "/srv/nbgrader/exchange"
c.Execute.timeout = 300  # seconds for Validate: the first cell imports TensorFlow
