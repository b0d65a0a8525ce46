// Plain fork and exec: tests of signals and limits need to know what runs and what it may do.
#include "support/program.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace burin::test {
namespace {

[[noreturn]] void execute(const std::string &path, const std::vector<std::string> &arguments) {
  std::vector<char *> argv{const_cast<char *>(path.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  execv(path.c_str(), argv.data());
  _exit(127);
}

void redirect(int descriptor, const std::filesystem::path &file) {
  int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (opened < 0 || dup2(opened, descriptor) < 0)
    _exit(126);
}

int codeOf(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

std::filesystem::path makeFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "burin-test-XXXXXX";
  if (!mkdtemp(pattern.data()))
    throw std::runtime_error("cannot make a temporary folder");
  std::filesystem::permissions(pattern, std::filesystem::perms::all); // programs without privileges look in, too
  return pattern;
}

} // namespace

Program::Program(const std::string &path, const std::vector<std::string> &arguments, Limits limits)
    : folder_(makeFolder()) {
  process_ = fork();
  if (process_ != 0)
    return;
  // As in a script's background job, where shells silence SIGINT; the others as at a prompt, whoever runs the tests.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGHUP, SIG_DFL);
  redirect(STDOUT_FILENO, folder_ / "out");
  redirect(STDERR_FILENO, folder_ / "err");
  if (limits.fileSize) {
    rlimit limit{*limits.fileSize, *limits.fileSize};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (limits.unprivileged && geteuid() == 0 && (setgid(65534) || setuid(65534)))
    _exit(126);
  execute(path, arguments);
}

Program::~Program() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  std::filesystem::remove_all(folder_);
}

void Program::signal(int number) const { kill(process_, number); }

std::string Program::out() const { return readFile(folder_ / "out"); }

Result Program::wait() {
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return {codeOf(status), out(), readFile(folder_ / "err")};
}

Result run(const std::string &path, const std::vector<std::string> &arguments, Limits limits) {
  return Program(path, arguments, limits).wait();
}

Result runOnTerminal(const std::string &path, const std::vector<std::string> &arguments) {
  int terminal = -1;
  pid_t process = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (process == 0)
    execute(path, arguments);
  Result result;
  char block[4096];
  for (ssize_t got; (got = read(terminal, block, sizeof block)) > 0;)
    result.out.append(block, static_cast<size_t>(got));
  int status = 0;
  waitpid(process, &status, 0);
  close(terminal);
  result.code = codeOf(status);
  return result;
}

Folder::Folder() : path_(makeFolder()) {}
Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string Folder::write(const std::string &name, const std::string &content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
  return path_ / name;
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string sampleText(size_t size) {
  static constexpr const char *words[] = {"the ", "burin ", "cuts ", "a ", "line, ", "and ", "another;\n", "copper "};
  std::string text;
  for (uint32_t state = 1; text.size() < size; state = state * 1664525 + 1013904223)
    text += words[state >> 29];
  text.resize(size);
  return text;
}

} // namespace burin::test
