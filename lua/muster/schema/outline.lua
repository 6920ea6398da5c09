-- The order of attributes in the documents: the functions of the context module, the groups of attributes within each
-- (the documents' own tables) and the areas of the programming guide of 1.0. Attributes name their group and area; this
-- file describes these for the reference. `deprecated` is the release from which on the documents deprecate a function as a
-- whole, where no other call in the recipe alone can replace it; `successor` says what does.
return {
  functions = {
    { "set_context", doc = "What a process computes on, how it compiles and runs, and what it writes for debugging." },
    { "set_auto_parallel_context", doc = "How data and network are spread over the devices that train together.",
      deprecated = "2.6", successor = "mindspore.parallel, for which the training script wraps its network with muster_context.parallel" },
    { "set_ps_context", doc = "Training through parameter servers.", deprecated = "2.6" },
  },
  groups = {
    { "system", title = "System", of = "set_context", doc = "The device and its memory." },
    { "debug", title = "Debug", of = "set_context", doc = "What is written for debugging." },
    { "execution", title = "Executive", of = "set_context", doc = "How networks are compiled and run." },
    { "common", title = "Common", of = "set_auto_parallel_context", doc = "For every way to train on several devices." },
    { "auto_parallel", title = "AUTO_PARALLEL", of = "set_auto_parallel_context",
      doc = "For networks that are cut among devices: semi_auto_parallel and auto_parallel." },
    { "ps", title = "Parameter server", of = "set_ps_context", doc = "The mode, its files and its ports." },
  },
  areas = {
    { "mode", title = "Execution mode management", doc = "Graphs, or operator by operator." },
    { "hardware", title = "Hardware management", doc = "The devices." },
    { "distributed", title = "Distributed management", doc = "Several devices." },
    { "maintenance", title = "Maintenance and test management", doc = "Profiling, graphs, dumps and prints." },
  },
}
