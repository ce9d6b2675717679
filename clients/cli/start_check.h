#pragma once

#include <string>
#include <string_view>

#include "clients/cli/document_file.h"

/// Whether a trial of a document could be started here, before any worker refuses it.
namespace rung::cli {

/// "trial.working_dir: there is no folder '/nosuch' here" and the like, in the words in which a
/// worker of this machine would refuse; `search_path` is the PATH where the document sets none.
/// Empty where nothing is wrong, the program depends on a parameter, or no trial is started.
std::string WhyNotStartable(const DocumentFile& document, std::string_view search_path);

}  // namespace rung::cli
