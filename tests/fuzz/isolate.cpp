// fork, two files and wait: see isolate.h.
#include "tests/fuzz/isolate.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace burin::fuzz {

namespace {

struct Child {
  std::FILE *answer, *errors; // unlinked files: a pipe would have to be read while the child writes
  std::function<void(const std::optional<std::string> &, const std::string &)> done;
};

std::FILE *unnamedFile() {
  std::FILE *file = std::tmpfile();
  if (!file)
    throw std::runtime_error(std::string("no temporary file: ") + std::strerror(errno));
  return file;
}

std::string contents(std::FILE *file) {
  std::string text;
  std::rewind(file);
  char block[4096];
  for (size_t read; (read = std::fread(block, 1, sizeof block, file)) > 0;)
    text.append(block, read);
  std::fclose(file);
  return text;
}

// The first lines say what happened, those after them (stack dumps) little.
std::string firstLines(const std::string &text, int lines) {
  size_t end = 0;
  while (lines-- > 0 && end < text.size())
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

[[noreturn]] void runChild(const Task &task, const Child &files, unsigned seconds) {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  // Of its own time: a busy machine is no fault. What waits for ever ends much later.
  const rlimit time{seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &time);
  dup2(fileno(files.errors), STDERR_FILENO);
  alarm(20 * seconds);
  try {
    const std::string answer = task.body();
    std::fwrite(answer.data(), 1, answer.size(), files.answer);
    std::fflush(files.answer);
    _exit(0);
  } catch (const std::exception &error) {
    dprintf(STDERR_FILENO, "%s\n", error.what());
  } catch (...) {
    dprintf(STDERR_FILENO, "an exception of unknown type\n");
  }
  _exit(1);
}

std::string endOf(int status, unsigned seconds) {
  if (!WIFSIGNALED(status))
    return "";
  if (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU)
    return "no end after " + std::to_string(seconds) + " s\n";
  return std::string("signal: ") + strsignal(WTERMSIG(status)) + "\n";
}

} // namespace

void runIsolated(std::vector<Task> tasks, int jobs, unsigned seconds) {
  std::map<pid_t, Child> running;
  size_t next = 0;
  while (next < tasks.size() || !running.empty()) {
    if (next < tasks.size() && static_cast<int>(running.size()) < jobs) {
      Task &task = tasks[next++];
      Child child{unnamedFile(), unnamedFile(), task.done};
      std::fflush(nullptr);
      const pid_t id = fork();
      if (id < 0)
        throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
      if (id == 0)
        runChild(task, child, seconds);
      running.emplace(id, std::move(child));
      continue;
    }
    int status = 0;
    const pid_t id = waitpid(-1, &status, 0);
    if (id < 0)
      throw std::runtime_error(std::string("waiting for a process: ") + std::strerror(errno));
    auto found = running.find(id);
    if (found == running.end())
      continue;
    Child child = std::move(found->second);
    running.erase(found);
    const std::string answer = contents(child.answer), errors = contents(child.errors);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      child.done(answer, "");
    else
      child.done(std::nullopt, endOf(status, seconds) + firstLines(errors, 12));
  }
}

} // namespace burin::fuzz
