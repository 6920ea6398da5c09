-- The names of muster's contracts, in the order of the documentation.
return { "mindspore", "mindspore-ps", "mindspore-ranktable", "torch", "ps-lite", "byteps", "tensorflow", "jax", "mpi", "none" }
