// Each line is one write, so that a killed run leaves at most its last line torn; resuming cuts that off.
#include "train/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "error.h"

namespace burin::runtime {

using nlohmann::json;

RunLog::RunLog(std::string path, int64_t resumeStep) : path_(std::move(path)) {
  int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (resumeStep < 0 ? O_TRUNC : 0);
  file_ = File(open(path_.c_str(), flags, 0666));
  if (file_.get() < 0)
    fail("cannot write the log {}: {}", path_, systemError());
  if (resumeStep >= 0)
    keepUpTo(resumeStep);
}

void RunLog::keepUpTo(int64_t step) {
  std::ifstream file(path_);
  off_t kept = 0;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    json parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
    // "end" is the summary after the last step: a run that goes on has not ended.
    if (!parsed.is_object() || parsed.value("event", json()) == "end" ||
        (parsed.contains("step") && parsed["step"] > step))
      break;
    kept += static_cast<off_t>(line.size()) + 1;
  }
  if (ftruncate(file_.get(), kept))
    fail("cannot write the log {}: {}", path_, systemError());
}

void RunLog::write(const nlohmann::ordered_json &line) {
  std::string text = line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  ssize_t written = ::write(file_.get(), text.data(), text.size());
  if (written < 0)
    fail("cannot write the log {}: {}", path_, systemError());
  if (static_cast<size_t>(written) != text.size())
    fail("cannot write the log {}: no space left", path_);
}

} // namespace burin::runtime
