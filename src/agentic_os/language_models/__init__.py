"""Language models that the person configured: an OpenAI-compatible address, or a command.

Nothing here is reached unless the person's settings name a provider; no project can. A provider
gets one prompt and gives one bounded text back; what is asked and what of the answer is believed
is decided elsewhere.
"""
