// The log of a run: one JSON object a line, each with an "event".
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "store/file.h"

namespace burin::runtime {

class RunLog {
public:
  // Starts an empty log, or with `resumeStep` >= 0 keeps the lines up to that step: what an interrupted run wrote after
  // its last checkpoint is about to happen again.
  RunLog(std::string path, int64_t resumeStep);
  void write(const nlohmann::ordered_json &line);

private:
  void keepUpTo(int64_t step);

  std::string path_;
  File file_;
};

} // namespace burin::runtime
