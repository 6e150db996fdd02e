//===- store/Store.cpp - Records on disk ----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/store/Store.h"

#include "runtime/Log.h"
#include "runtime/cache/FileTree.h"
#include "runtime/cache/Settings.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <thread>
#include <tuple>

namespace eider::tuning {

namespace {

constexpr const char *fileName = "tuning.db";
constexpr int applicationId = 0x45494452; // EIDR
constexpr int databaseSchema = 1;
constexpr int busyMilliseconds = 10000;

/// Why the database cannot be used.
struct Unusable {
  std::string why;
};

class Statement {
public:
  Statement(sqlite3 *database, const std::string &text) : database(database) {
    check(::sqlite3_prepare_v2(database, text.c_str(), -1, &statement, nullptr));
  }
  ~Statement() { ::sqlite3_finalize(statement); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  Statement &bind(const std::string &value) {
    check(::sqlite3_bind_text(statement, ++bound, value.data(), static_cast<int>(value.size()),
                              SQLITE_TRANSIENT));
    return *this;
  }
  Statement &bind(int64_t value) {
    check(::sqlite3_bind_int64(statement, ++bound, value));
    return *this;
  }
  Statement &bind(double value) {
    check(::sqlite3_bind_double(statement, ++bound, value));
    return *this;
  }
  bool step() {
    const int result = ::sqlite3_step(statement);
    if (result != SQLITE_ROW && result != SQLITE_DONE)
      check(result);
    return result == SQLITE_ROW;
  }
  std::string text(int column) const {
    const auto *bytes = reinterpret_cast<const char *>(::sqlite3_column_text(statement, column));
    return bytes
               ? std::string(bytes, static_cast<size_t>(::sqlite3_column_bytes(statement, column)))
               : "";
  }
  int64_t integer(int column) const { return ::sqlite3_column_int64(statement, column); }
  double real(int column) const { return ::sqlite3_column_double(statement, column); }

private:
  void check(int result) const {
    if (result != SQLITE_OK)
      throw Unusable{::sqlite3_errmsg(database)};
  }

  sqlite3 *database;
  sqlite3_stmt *statement = nullptr;
  int bound = 0;
};

/// An open database with our tables.
class Database {
public:
  Database(const std::string &path, bool create) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX |
                      (create ? SQLITE_OPEN_CREATE : 0);
    const int result = ::sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
    try {
      if (result != SQLITE_OK)
        throw Unusable{::sqlite3_errstr(result)};
      ::sqlite3_busy_timeout(handle, busyMilliseconds);
      requireOurs(path, create);
    } catch (...) {
      ::sqlite3_close(handle);
      throw;
    }
  }
  ~Database() { ::sqlite3_close(handle); }
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  void run(const std::string &text) const {
    Statement statement(handle, text);
    while (statement.step())
      ;
  }
  int64_t number(const std::string &text) const {
    Statement statement(handle, text);
    return statement.step() ? statement.integer(0) : 0;
  }
  sqlite3 *get() const { return handle; }

private:
  void requireOurs(const std::string &path, bool create) const {
    run("BEGIN"); // one look: another process may be making the tables
    const int64_t id = number("PRAGMA application_id");
    const bool empty = number("SELECT count(*) FROM sqlite_schema") == 0;
    run("COMMIT");
    if (id == applicationId) {
      if (number("PRAGMA user_version") != databaseSchema)
        throw Unusable{"it is of another version of Eider"};
      return;
    }
    if (id != 0 || !empty)
      throw Unusable{"it is another program's database"};
    if (create)
      makeTables(path);
  }

  void makeTables(const std::string &path) const {
    struct statfs facts = {};
    const bool network = ::statfs(path.c_str(), &facts) == 0 && isNetworkFileSystem(facts.f_type);
    if (network)
      run("PRAGMA journal_mode = DELETE");
    else
      useWriteAheadLog();
    run("BEGIN IMMEDIATE");
    run("CREATE TABLE IF NOT EXISTS records ("
        "program TEXT NOT NULL, dims TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL, "
        "schedule TEXT NOT NULL, best INTEGER NOT NULL, microseconds REAL NOT NULL, "
        "spread REAL NOT NULL, memcpy REAL NOT NULL, bytes INTEGER NOT NULL, date TEXT NOT NULL, "
        "name TEXT NOT NULL, device_name TEXT NOT NULL, version TEXT NOT NULL, "
        "driver INTEGER NOT NULL, PRIMARY KEY (program, dims, target, device, schedule))");
    run("PRAGMA application_id = " + std::to_string(applicationId));
    run("PRAGMA user_version = " + std::to_string(databaseSchema));
    run("COMMIT");
  }

  /// The one step in which SQLite does not wait for processes that are at the same.
  void useWriteAheadLog() const {
    using namespace std::chrono;
    const auto end = steady_clock::now() + milliseconds(busyMilliseconds);
    int result;
    while ((result = ::sqlite3_exec(handle, "PRAGMA journal_mode = WAL", nullptr, nullptr,
                                    nullptr)) == SQLITE_BUSY &&
           steady_clock::now() < end)
      std::this_thread::sleep_for(milliseconds(2));
    if (result != SQLITE_OK)
      throw Unusable{::sqlite3_errmsg(handle)};
  }

  sqlite3 *handle = nullptr;
};

constexpr const char *columns = "program, dims, target, device, schedule, best, microseconds, "
                                "spread, memcpy, bytes, date, name, device_name, version, driver";

Record recordOf(const Statement &row) {
  return {row.text(0),    row.text(1),  row.text(2),
          row.text(3),    row.text(4),  row.integer(5) != 0,
          row.real(6),    row.real(7),  row.real(8),
          row.integer(9), row.text(10), row.text(11),
          row.text(12),   row.text(13), static_cast<int>(row.integer(14))};
}

void warn(const std::string &path, const std::string &why) {
  warnOnce("tuning records are not used: " + path + ": " + why + "; remove the file to start anew");
}

/// Rows of a query with bound texts; none where there is no usable database.
std::vector<Record> query(const std::string &path, const std::string &condition,
                          const std::vector<std::string> &values) {
  std::vector<Record> records;
  struct stat facts;
  if (path.empty() || ::lstat(path.c_str(), &facts) != 0)
    return records;
  try {
    const Database database(path, false);
    if (database.number("PRAGMA application_id") != applicationId)
      return records; // just being made
    Statement rows(database.get(), std::string("SELECT ") + columns + " FROM records " + condition);
    for (const std::string &value : values)
      rows.bind(value);
    while (rows.step())
      records.push_back(recordOf(rows));
  } catch (const Unusable &unusable) {
    warn(path, unusable.why);
    records.clear();
  }
  return records;
}

using CellKey = std::tuple<std::string, std::string, std::string, std::string>;

CellKey cellOf(const Record &r) { return {r.program, r.dims, r.target, r.device}; }

constexpr const char *ofCell = "WHERE program = ? AND dims = ? AND target = ? AND device = ?";

void bindCell(Statement &statement, const Record &r) {
  statement.bind(r.program).bind(r.dims).bind(r.target).bind(r.device);
}

void insertCell(const Database &database, const std::vector<Record> &cell) {
  Statement removal(database.get(), std::string("DELETE FROM records ") + ofCell);
  bindCell(removal, cell.front());
  removal.step();
  for (const Record &r : cell) {
    Statement insertion(database.get(),
                        std::string("INSERT OR REPLACE INTO records (") + columns +
                            ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    bindCell(insertion, r);
    insertion.bind(r.schedule)
        .bind(int64_t(r.best))
        .bind(r.microseconds)
        .bind(r.spread)
        .bind(r.memcpyTime)
        .bind(r.bytes)
        .bind(r.date)
        .bind(r.name)
        .bind(r.deviceName)
        .bind(r.version)
        .bind(int64_t(r.driver));
    insertion.step();
  }
}

/// When a cell was last measured; empty if it is not known.
std::string dateOf(const Database &database, const Record &cell) {
  Statement dates(database.get(), std::string("SELECT max(date) FROM records ") + ofCell);
  bindCell(dates, cell);
  return dates.step() ? dates.text(0) : "";
}

} // namespace

bool isNetworkFileSystem(long type) {
  constexpr unsigned long network[] = {
      0x6969 /*NFS*/,        0x517b /*SMB*/,      0xfe534d42 /*SMB2*/, 0xff534d42 /*CIFS*/,
      0x0bd00bd0 /*Lustre*/, 0x47504653 /*GPFS*/, 0x00c36400 /*Ceph*/, 0x65735546 /*FUSE*/,
      0x19830326 /*BeeGFS*/, 0x01021997 /*9P*/,   0x5346414f /*AFS*/};
  return std::ranges::find(network, static_cast<unsigned long>(type) & 0xffffffffUL) !=
         std::end(network);
}

Store::Store(const CacheOptions &options) {
  if (!options.enabled)
    return;
  const std::string directory = settings::directory(options);
  struct stat facts;
  std::string problem;
  // The directory is made by whoever writes first; the same rules hold as for the cache's entries.
  if (directory.empty() ||
      (::lstat(directory.c_str(), &facts) == 0 && !openPrivateDirectory(directory, problem))) {
    if (!problem.empty())
      settings::warnOfDirectory(directory, problem);
    return;
  }
  path = directory + "/" + fileName;
}

std::vector<Record> Store::best(const std::string &program, const std::string &target,
                                const std::string &device) const {
  return query(path, "WHERE best AND program = ? AND target = ? AND device = ? ORDER BY dims",
               {program, target, device});
}

std::vector<Record> Store::of(const std::string &program, const std::string &target) const {
  return query(path,
               "WHERE program = ? AND target = ? ORDER BY device, dims, best DESC, microseconds",
               {program, target});
}

std::vector<Record> Store::all() const {
  return query(path, "ORDER BY name, program, target, device, dims, best DESC, microseconds", {});
}

namespace {
/// Calls `write` in a transaction. Throws Unusable.
template <class Write> void transact(const std::string &path, Write write) {
  if (path.empty())
    throw Unusable{"there is no cache directory"};
  std::string problem;
  if (!openPrivateDirectory(path.substr(0, path.rfind('/')), problem))
    throw Unusable{problem};
  const Database database(path, true);
  database.run("BEGIN IMMEDIATE");
  write(database); // closing the database rolls back what was not committed
  database.run("COMMIT");
}
} // namespace

bool Store::replace(const std::vector<Record> &records) const {
  if (records.empty())
    return true;
  try {
    transact(path, [&](const Database &database) { insertCell(database, records); });
    return true;
  } catch (const Unusable &unusable) {
    warn(path.empty() ? fileName : path, unusable.why);
    return false;
  }
}

int64_t Store::merge(const std::vector<Record> &records) const {
  std::map<CellKey, std::vector<Record>> cells;
  for (const Record &record : records)
    cells[cellOf(record)].push_back(record);
  int64_t taken = 0;
  try {
    transact(path, [&](const Database &database) {
      for (const auto &[key, cell] : cells) {
        const auto later = [](const Record &a, const Record &b) { return a.date < b.date; };
        if (std::ranges::max_element(cell, later)->date <= dateOf(database, cell.front()))
          continue;
        insertCell(database, cell);
        taken += static_cast<int64_t>(cell.size());
      }
    });
  } catch (const Unusable &unusable) {
    throw Error(ErrorKind::Machine, "cannot take records: " + unusable.why,
                path.empty() ? fileName : path, "remove it, or set EIDER_CACHE_DIR");
  }
  return taken;
}

std::string exportRecords(const CacheOptions &options) {
  std::string text;
  for (const Record &record : Store(options).all())
    text += toLine(record) + "\n";
  return text;
}

int64_t importRecords(const std::string &text, const CacheOptions &options) {
  const std::vector<Record> records = parseRecords(text, "tuning records");
  return records.empty() ? 0 : Store(options).merge(records);
}

} // namespace eider::tuning
