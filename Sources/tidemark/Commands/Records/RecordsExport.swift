import Administration
import ArgumentParser
import FileIO
import Foundation
import RecordJSON
import RecordModel
import StorageContract

struct RecordsExport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all records of a database, a zone or a type as JSON lines.",
        discussion: """
            Parents come before their children, older records before newer ones. Each \
            record is as of the moment when it was read. One that changes during the \
            export may come twice, and its last line counts. Files of assets go into a \
            folder beside the output, each under its SHA-256. Shares come as records, \
            and an import leaves them out.

              tidemark records export --container iCloud.org.example.app --as alice \\
                  --zone Notes --output notes.jsonl
              tidemark records export --container iCloud.org.example.app \\
                  --database public --type Post | gzip > posts.jsonl.gz
            """
    )

    @OptionGroup var options: RecordsOptions<DatabaseName>
    @OptionGroup var zone: ZoneOptions

    @Option(
        help: ArgumentHelp("Only records of this type.", valueName: "type"),
        completion: Completions.types
    )
    var type: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("A new file; standard output if '-' or missing.", valueName: "file"),
        completion: .file()
    )
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The folder for files of assets. (default: FILE.assets; none for standard output)",
            valueName: "dir"
        ),
        completion: .directory
    )
    var assets: String?

    @OptionGroup var dateForm: DateFormOption

    @Flag(help: "With --output: print a JSON object with the numbers of records and bytes.")
    var json = false

    func run() async throws {
        let path = self.output.flatMap { $0 == "-" ? nil : $0 }
        let file = try ExportFile(path: path)
        do {
            let count = try await self.options.open { database in
                let bar = TerminalProgress()
                let folder = self.assets ?? path.map { $0 + ".assets" }
                var run = ExportRun(
                    database: database,
                    type: self.type,
                    assets: folder.map { AssetsBeside(path: $0, database: database) },
                    dates: self.dateForm.dates,
                    showProgress: { bar.show($0, of: $1) },
                    write: { try file.write($0) }
                )
                do {
                    try await run.run(self.zone.id)
                } catch let error as StoreError {
                    throw RecordAdvice.failure(error, doing: "the records cannot be read")
                }
                bar.clear()
                return run.records
            }
            try file.finish()
            guard path != nil else { return }
            if self.json {
                Terminal.write(try JSONText.of(["records": Int64(count), "bytes": file.bytes]))
            } else {
                Terminal.write(
                    "Exported \(count) \(count == 1 ? "record" : "records"), \(file.bytes) bytes.\n"
                )
            }
        } catch {
            file.discard()
            throw error
        }
    }
}

/// The output of an export: a new file, which has its name once it is complete, or standard output.
final class ExportFile {
    private static let bufferBytes = 256 * 1024

    private let path: String?
    private let handle: FileHandle
    private var buffer: [UInt8] = []
    private(set) var bytes: Int64 = 0

    private var partialPath: String { (self.path ?? "") + ".unfinished" }

    init(path: String?) throws(CommandFailure) {
        self.path = path
        guard let path else {
            self.handle = .standardOutput
            return
        }
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(.cannotCreate, "the file \(path) exists. Name a new one, or remove it.")
        }
        let partial = path + ".unfinished"
        guard
            FileManager.default.createFile(
                atPath: partial,
                contents: nil,
                attributes: [.posixPermissions: 0o600]
            ),
            let handle = FileHandle(forWritingAtPath: partial)
        else {
            throw CommandFailure(
                .cannotCreate,
                "the file \(partial) cannot be made. Check the folder and its permissions."
            )
        }
        self.handle = handle
    }

    func write(_ line: [UInt8]) throws(CommandFailure) {
        self.buffer += line
        self.buffer.append(UInt8(ascii: "\n"))
        self.bytes += Int64(line.count + 1)
        if self.buffer.count >= Self.bufferBytes { try self.flush() }
    }

    private func flush() throws(CommandFailure) {
        // Whole lines.
        guard self.path != nil || isatty(STDOUT_FILENO) == 0 else {
            Terminal.write(self.buffer)
            return self.buffer.removeAll(keepingCapacity: true)
        }
        do {
            try self.handle.write(contentsOf: Data(self.buffer))
        } catch {
            throw CommandFailure(.cannotCreate, "the output cannot be written: \(FileError.reason(error))")
        }
        self.buffer.removeAll(keepingCapacity: true)
    }

    /// Syncs the file, and gives it its name.
    func finish() throws(CommandFailure) {
        try self.flush()
        guard let path else { return }
        do {
            try self.handle.synchronize()
            try self.handle.close()
        } catch {
            throw CommandFailure(.cannotCreate, "the output cannot be written: \(FileError.reason(error))")
        }
        guard rename(self.partialPath, path) == 0 else {
            throw CommandFailure(.cannotCreate, "the file \(path) cannot be made.")
        }
    }

    /// Removes the partial file of an export that failed.
    func discard() {
        guard self.path != nil else { return }
        unlink(self.partialPath)
    }
}
