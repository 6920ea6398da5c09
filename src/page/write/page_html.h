// Writes a page as one HTML file that needs nothing else: styles, scripts (web/, and modules of d3) and data are in it,
// and its content security policy permits nothing else.
#pragma once

#include <string>

#include "page/collect/page_content.h"

namespace muster {

// The page with its data, for a file.
std::string PageHtml(const PageContent& page);

// The page without data: a script of the page (`extra`, may be empty) calls muster.render(data, base64).
struct PageShell {
  std::string html;
  std::string policy;  // the same content security policy, for the header of a server
};
PageShell EmptyPage(const std::string& title, const std::string& extra);

}  // namespace muster
