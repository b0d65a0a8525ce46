// The list is small and read strictly; what the shards say of themselves must agree with it.
#include "data/prepared.h"

#include <unistd.h>

#include <cerrno>
#include <set>

#include "error.h"

namespace burin::runtime {
namespace {

using nlohmann::json;

constexpr const char *format = "burin prepared tokens";
constexpr int formatVersion = 1;

std::string listOf(const std::string &folder) { return folder + "/prepared.json"; }

json toJson(const std::vector<Shard> &shards) {
  json list = json::array();
  for (const Shard &shard : shards)
    list.push_back({{"file", shard.file}, {"tokens", shard.count}, {"checksum", shard.checksum}});
  return list;
}

std::vector<Shard> fromJson(const json &list) {
  std::vector<Shard> shards;
  for (const json &shard : list) {
    shards.push_back({shard.at("file").get<std::string>(), shard.at("tokens").get<uint64_t>(),
                      shard.at("checksum").get<uint64_t>()});
    if (shards.back().file.find('/') != std::string::npos)
      fail("a shard is called '{}', which is no name of a file", shards.back().file);
  }
  return shards;
}

} // namespace

Prepared readPrepared(const std::string &folder) {
  if (access(listOf(folder).c_str(), F_OK) && errno == ENOENT)
    fail("data folder {} has no prepared.json: `burin-text prepare --out {}` makes it, and has not run or not finished",
         folder, folder);
  try {
    MappedFile file(listOf(folder));
    json list = json::parse(file.bytes());
    file.expectWhole();
    if (list.at("format") != format || list.at("version") != formatVersion)
      fail("format {} version {}, this program reads {} version {}", list.at("format").dump(),
           list.at("version").dump(), format, formatVersion);
    Prepared prepared{list.at("vocab").get<int64_t>(), list.at("tokenizer_hash").get<uint64_t>(), list.at("tokenizer"),
                      fromJson(list.at("train")), fromJson(list.at("valid"))};
    if (prepared.train.empty())
      fail("it lists no shards");
    std::set<std::string> names;
    for (const std::vector<Shard> *shards : {&prepared.train, &prepared.valid})
      for (const Shard &shard : *shards)
        if (!names.insert(shard.file).second)
          fail("it lists {} twice", shard.file);
    return prepared;
  } catch (const json::exception &error) {
    fail("data folder {}: its prepared.json is damaged ({})", folder, error.what());
  } catch (const Error &error) {
    fail("data folder {}: its prepared.json: {}", folder, error.what());
  }
}

void writePrepared(const std::string &folder, const Prepared &prepared) {
  json list = {{"format", format},
               {"version", formatVersion},
               {"vocab", prepared.vocab},
               {"tokenizer_hash", prepared.tokenizerHash},
               {"tokenizer", prepared.tokenizer},
               {"train", toJson(prepared.train)},
               {"valid", toJson(prepared.valid)}};
  std::string text = list.dump() + '\n';
  AtomicFile file(listOf(folder));
  file.write(text.data(), text.size());
  file.commit();
}

void removePrepared(const std::string &folder) {
  if (unlink(listOf(folder).c_str()) && errno != ENOENT)
    fail("cannot replace {}: {}", listOf(folder), systemError());
}

std::vector<TokenFile> openShards(const std::string &folder, const Prepared &prepared,
                                  const std::vector<Shard> &shards) {
  std::vector<TokenFile> files;
  for (const Shard &shard : shards) {
    TokenFile &file = files.emplace_back(folder + '/' + shard.file);
    if (file.format() != DataFormat::burin)
      fail("data file {}: {}, expected a shard of its folder's prepared.json", file.path(), file.formatText());
    if (file.size() != shard.count || file.checksum() != shard.checksum)
      fail("data file {}: {} tokens with checksum {:016x}, but its folder's prepared.json tells of {} with {:016x}: "
           "it is another one",
           file.path(), file.size(), file.checksum(), shard.count, shard.checksum);
    if (file.vocab() != prepared.vocab || file.tokenizer() != prepared.tokenizerHash)
      fail("data file {} was made with another tokenizer than its folder's prepared.json tells of", file.path());
  }
  return files;
}

} // namespace burin::runtime
