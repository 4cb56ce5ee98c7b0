// No kernel here.
