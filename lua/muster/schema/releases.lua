-- The releases of MindSpore that a recipe can name. A short name means the newest of its line. `described`: the other
-- files of this folder have that release's attributes; a recipe can name no other release. `described_from`: what these
-- were taken from, if not from the release itself; shown wherever the release is.
return {
  { "0.3.1", short = "0.3", described = true, doc = "May and June 2020" },
  { "1.0.1", short = "1.0", described = true, doc = "September and October 2020" },
  { "1.6.2", short = "1.6", described = true, doc = "January to July 2022" },
  { "1.9.0", short = "1.9", described = true, doc = "October 2022" },
  { "2.3.0-rc2", described = true, doc = "May 2024" },
  { "2.3.1", short = "2.3", described = true, doc = "August 2024" },
  { "2.4.0", short = "2.4", described = true, doc = "October 2024" },
  { "2.5.0", short = "2.5", described = true, doc = "February 2025" },
  { "2.6.0", short = "2.6", described = true, doc = "May 2025" },
  { "2.7.0", short = "2.7", described = true, doc = "as its release candidate of July 2025 has it",
    described_from = "its release candidate of July 2025" },
}
