"""What every drawing is made of: shapes and text as SVG, places for nodes and arrows, checks of labels. No torch."""
