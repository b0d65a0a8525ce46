// burin-fuzz: draws random graphs, compiles them and holds what they compute against the double-precision evaluator.
// README.md says what it covers and how a finding reads.
#include <cstdio>
#include <iostream>
#include <thread>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <nlohmann/json.hpp>

#include "tests/fuzz/edit.h"
#include "tests/fuzz/isolate.h"
#include "tests/fuzz/session.h"
#include "tests/fuzz/shrink.h"

namespace burin::fuzz {
namespace {

using json = nlohmann::json;

constexpr unsigned secondsOfBatch = 300, secondsOfGraph = 60;

struct Options {
  int64_t count = 100, only = -1;
  uint64_t seed = 1;
  bool sizes = false, complete = false;
  int jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int tries = 150;
};

class Session {
public:
  explicit Session(const Options &options) : options(options), draw{.odd_sizes = options.sizes} {}

  bool run() {
    std::vector<Task> batches;
    if (options.only >= 0) {
      batches.push_back(taskOf(options.only, options.only + 1));
    } else {
      for (int64_t first = 0; first < options.count; first += batchSize)
        batches.push_back(taskOf(first, std::min(first + batchSize, options.count)));
    }
    runIsolated(std::move(batches), options.jobs, secondsOfBatch);
    runIsolated(std::move(alone), options.jobs, secondsOfGraph);
    report();
    printCoverage();
    const bool complete = !options.complete || isComplete();
    std::cout << (findings.empty() ? "no graph failed" : std::to_string(findings.size()) + " graphs failed") << "\n";
    return findings.empty() && complete;
  }

private:
  // A batch in one object. If that dies or does not compile, each of its graphs alone.
  Task taskOf(int64_t first, int64_t last) {
    return {[this, first, last] { return checkBatch(first, last); },
            [this, first, last](const std::optional<std::string> &answer, const std::string &end) {
              if (answer)
                return take(json::parse(*answer));
              if (last - first == 1)
                return note(first, {Fault::crash, "  " + end});
              for (int64_t index = first; index < last; ++index)
                alone.push_back(taskOf(index, index + 1));
            }};
  }

  std::string checkBatch(int64_t first, int64_t last) const {
    Counts counts;
    std::vector<std::unique_ptr<Drawn>> drawn;
    std::vector<int64_t> indices;
    std::vector<const Case *> cases;
    std::vector<const Truth *> truths;
    json findings = json::array();
    auto found = [&](int64_t index, const Finding &finding) {
      if (finding.fault != Fault::none)
        findings.push_back({{"index", index}, {"fault", static_cast<int>(finding.fault)}, {"text", finding.text}});
    };
    for (int64_t index = first; index < last; ++index) {
      drawn.push_back(drawCase(options.seed, index, draw, counts));
      const Drawn &each = *drawn.back();
      countGraph(each.test, counts);
      if (!each.truth.conclusive())
        ++counts["gradients not judged by differences: a kink"];
      if (!each.truth.contradiction().empty()) {
        found(index, {Fault::reference, "  " + each.truth.contradiction() + "\n"});
        continue;
      }
      indices.push_back(index);
      cases.push_back(&each.test);
      truths.push_back(&each.truth);
    }
    if (!cases.empty()) {
      try {
        const std::vector<Finding> results = check(cases, truths, drawCompilation(options.seed, first), counts);
        for (size_t i = 0; i < results.size(); ++i)
          found(indices[i], results[i]);
      } catch (const std::exception &error) {
        if (last - first > 1)
          throw; // whose fault it was, single graphs will tell
        found(first, {Fault::stage, "  " + std::string(error.what()) + "\n"});
      }
    }
    return json{{"counts", counts}, {"findings", findings}}.dump(-1, ' ', false, json::error_handler_t::replace);
  }

  void take(const json &answer) {
    for (const auto &[name, count] : answer.at("counts").items())
      counts[name] += count.get<int64_t>();
    for (const json &finding : answer.at("findings"))
      note(finding.at("index"), {static_cast<Fault>(finding.at("fault").get<int>()), finding.at("text")});
  }

  void note(int64_t index, const Finding &finding) {
    std::cerr << "graph " << index << ": " << describe(finding.fault) << "\n";
    findings[index] = finding;
  }

  // One graph in a process of its own.
  std::optional<Finding> isolated(const Case &test, const Compilation &compilation) const {
    std::optional<Finding> finding;
    Task task{[&]() -> std::string {
                Counts ignored;
                const std::optional<Finding> found = checkAlone(test, compilation, ignored);
                return found ? std::to_string(static_cast<int>(found->fault)) + found->text : "";
              },
              [&](const std::optional<std::string> &answer, const std::string &end) {
                if (!answer)
                  finding = Finding{Fault::crash, "  " + end};
                else if (!answer->empty())
                  finding = Finding{static_cast<Fault>(answer->front() - '0'), answer->substr(1)};
              }};
    runIsolated({task}, 1, secondsOfGraph);
    return finding;
  }

  void report() const {
    // Shrinking takes a while, and one bug tends to show in many graphs.
    constexpr int most = 5;
    int reported = 0;
    for (const auto &[index, finding] : findings) {
      std::cout << "\nseed " << options.seed << ", graph " << index << " (burin-fuzz --seed " << options.seed
                << " --only " << index << (options.sizes ? " --sizes" : "") << "): " << describe(finding.fault) << "\n"
                << finding.text;
      if (++reported > most)
        continue;
      reportSmallest(index, finding);
    }
    std::cout << std::endl;
  }

  void reportSmallest(int64_t index, const Finding &finding) const {
    Compilation compilation = drawCompilation(options.seed, index);
    auto fails = [&](const Case &smaller, const Compilation &how) {
      const std::optional<Finding> seen = isolated(smaller, how);
      return seen && seen->fault == finding.fault;
    };
    // The draw that was checked: the first that can be judged.
    std::optional<Case> test;
    std::optional<Finding> seen;
    for (uint64_t attempt = 0; attempt < mostAttempts && !seen; ++attempt)
      if ((test = drawAttempt(options.seed, index, attempt, draw)))
        seen = isolated(*test, compilation);
    if (!seen || seen->fault != finding.fault) {
      std::cout << "  alone it does not fail\n" << (test ? text(test->graph) : "");
      return;
    }
    // The plainest pipeline that still shows it.
    for (Compilation plainer : {Compilation{.cpu = compilation.cpu}, Compilation{.cpu = "x86-64"}})
      if (fails(*test, plainer))
        compilation = plainer;
    Case smallest = *test;
    smallest.graph = shrunk(
        test->graph,
        [&](const Graph &graph) {
          return fails({.graph = graph, .differentiate = test->differentiate, .seed = test->seed}, compilation);
        },
        options.tries);
    if (Case forward = smallest; smallest.differentiate) {
      forward.differentiate = false;
      if (fails(forward, compilation))
        smallest = forward;
    }
    std::cout << "  the smallest graph found, " << (smallest.differentiate ? "with" : "without") << " gradients, "
              << describe(compilation) << ":\n"
              << text(smallest.graph);
    if (const std::optional<Finding> last = isolated(smallest, compilation))
      std::cout << last->text;
  }

  void printCoverage() const {
    std::cout << "coverage\n";
    for (const auto &[name, count] : counts)
      std::cout << "  " << name << ": " << count << "\n";
  }

  // Every op and every fusion has been met, and so have the shapes of graphs that matter.
  bool isComplete() const {
    std::vector<std::string> wanted = {
        "values with several readers", "ties",           "fused attention", "fused swiglu",
        "fused linear_cross_entropy",  "fused recompute"};
    for (std::string_view op : mnemonics())
      wanted.push_back("op " + std::string(op));
    bool complete = true;
    for (const std::string &name : wanted)
      if (!counts.contains(name)) {
        std::cout << "never met: " << name << "\n";
        complete = false;
      }
    return complete;
  }

  const Options &options;
  const DrawOptions draw;
  Counts counts;
  std::map<int64_t, Finding> findings;
  std::vector<Task> alone;
};

} // namespace
} // namespace burin::fuzz

int main(int argc, char **argv) {
  burin::fuzz::Options options;
  CLI::App app("Compiles random graphs and compares what they compute with the double-precision evaluator.",
               "burin-fuzz");
  app.add_option("--count", options.count, "how many graphs")
      ->capture_default_str()
      ->check(CLI::Range(int64_t(1), int64_t(1000000)));
  app.add_option("--seed", options.seed, "which graphs: the same seed draws the same ones")->capture_default_str();
  app.add_flag("--sizes", options.sizes,
               "sizes around the widths of vectors and blocks: 1, 2, 3, 5, 7, 13, 17, 31, 33, 65, 129");
  app.add_option("--only", options.only, "just the graph of this index")
      ->check(CLI::Range(int64_t(0), int64_t(1000000)));
  app.add_option("--jobs", options.jobs, "so many processes at a time")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--tries", options.tries, "how many smaller graphs are tried for one that fails")
      ->capture_default_str()
      ->check(CLI::Range(0, 100000));
  app.add_flag("--complete", options.complete, "fail where an op or a fusion was never met");
  CLI11_PARSE(app, argc, argv);
  try {
    return burin::fuzz::Session(options).run() ? 0 : 1;
  } catch (const std::exception &error) {
    std::cerr << "error: " << error.what() << "\n";
    return 1;
  }
}
