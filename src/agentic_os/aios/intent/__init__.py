"""What a request means: skills, tools, projects, and who may decide."""
