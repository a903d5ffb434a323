"""What is bounded: the error, sensitivity, specificity and other means of losses, and what follows from them."""
