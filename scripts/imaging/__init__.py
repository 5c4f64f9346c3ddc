"""How an image is written: shared by scripts/image and scripts/release."""
