"""What `check` found, in the forms that other programs show: JUnit, SARIF, and Markdown for job summaries."""
