"""A checked file as one page for a browser: readable without network, without a framework, and without a mouse."""
