-- The contracts that muster has, in the order in which they are told.
return { "mindspore", "mindspore-ps", "mindspore-ranktable", "torch", "ps-lite", "byteps", "tensorflow", "jax", "mpi", "none" }
