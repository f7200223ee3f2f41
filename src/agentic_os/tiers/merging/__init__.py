"""Several ranked lists into one: by ranks, by what each hit says, and whose word goes first."""
