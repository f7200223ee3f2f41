"""From evidence to knowledge: the audit of hot memory, promotion, memories of other agents."""
