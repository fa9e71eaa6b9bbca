"""What a protocol is: its language, its declarations and the meaning of its steps."""
