import Administration
import FileIO
import Foundation
import RecordModel
import RecordStore
import Synchronization
import Testing

/// Files of records that are brought into a database.
@Suite(.timeLimit(.minutes(1)))
struct ImportTests {
    private static func note(_ name: String, _ text: String, zone: String = "_defaultZone") -> String {
        #"{"recordName":"\#(name)","recordType":"Note","zoneID":{"zoneName":"\#(zone)"},"#
            + #""fields":{"text":{"value":"\#(text)","type":"STRING"}}}"# + "\n"
    }

    /// Imports a text as the user alice, and returns what became of it.
    private func run(
        _ text: String,
        _ opened: OpenedStore,
        policy: ModifyRecords.Policy = .ifServerRecordUnchanged,
        createsZones: Bool = false,
        isDryRun: Bool = false
    ) async throws -> (result: ImportResult, progress: [Int64]) {
        let path = opened.folder.path + "/notes.jsonl"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let database = try opened.database(of: "alice", absent: isDryRun ? .isAssumed : .isMade)
        let progress = Progress()
        var run = ImportRun(
            database: database,
            source: ImportSource(
                file: try InputFile(
                    path: path,
                    name: "the notes",
                    folder: opened.folder.path,
                    reserveBytes: 0
                ),
                isCSV: false,
                recordType: nil,
                owners: database.owners
            ),
            zone: nil,
            policy: policy,
            assets: AssetsBeside(path: path + ".assets", database: database),
            isDryRun: isDryRun,
            showProgress: { done, _ in progress.add(done) }
        )
        try await run.run(createsZones: createsZones)
        return (run.result, progress.all)
    }

    /// What an import has said of its progress.
    private final class Progress: Sendable {
        private let told = Mutex<[Int64]>([])

        func add(_ done: Int64) { self.told.withLock { $0.append(done) } }

        var all: [Int64] { self.told.withLock { $0 } }
    }

    private func withAlice(_ body: (OpenedStore) async throws -> Void) async throws {
        try await OpenedStore.run { opened in
            _ = try opened.user("alice").add()
            try await body(opened)
        }
    }

    @Test
    func `records are created once, and what differs is left alone`() async throws {
        try await self.withAlice { opened in
            let text = Self.note("a", "one") + Self.note("b", "two")
            let tried = try await self.run(text, opened, isDryRun: true).result
            #expect(tried.created == 2)
            let (first, progress) = try await self.run(text, opened)
            #expect(first.created == 2 && first.failures.count == 0)
            // The file is read twice, without the end of its last line.
            #expect(progress.last == Int64(2 * (text.utf8.count - 1)))
            let again = try await self.run(text, opened).result
            #expect(again.unchanged == 2)
            let changed = Self.note("a", "three")
            let second = try await self.run(changed, opened).result
            let tag = try #require(
                try await opened.database(of: "alice").fetch([RecordID(zone: .default, recordName: "a")])
                    .compactMap { if case .record(let record) = $0 { record.changeTag } else { nil } }.first
            )
            #expect(
                second.failures.kept
                    == [ItemFailure(record: "a", line: 1, reason: .differs(changeTag: tag))]
            )
            let overwritten = try await self.run(changed, opened, policy: .changedKeys).result
            #expect(overwritten.changed == 1)
        }
    }

    @Test
    func `an import that stops says why, and that nothing was written`() async throws {
        try await self.withAlice { opened in
            let twice = Self.note("a", "one") + Self.note("b", "two") + Self.note("a", "three")
            let stop = await #expect(throws: ImportStop.self) { try await self.run(twice, opened) }
            #expect(stop?.cause == .twice("a", line: 3, earlierLine: 1))
            #expect(stop?.file == "the notes" && stop?.isChecking == true)
            let zone = Self.note("a", "one", zone: "Desk")
            let missing = await #expect(throws: ImportStop.self) { try await self.run(zone, opened) }
            #expect(missing?.cause == .zonesMissing([ZoneID(zoneName: "Desk")]))
            let empty = await #expect(throws: ImportStop.self) { try await self.run(" \n", opened) }
            #expect(empty?.cause == .file(.hasNoRecord(bytes: 2)))
            #expect(empty?.result.isEmpty == true)
            let made = try await self.run(zone, opened, createsZones: true).result
            #expect(made.zonesCreated == 1)
        }
    }

    @Test
    func `a record whose asset is not beside the file is refused`() async throws {
        try await self.withAlice { opened in
            let sum = String(repeating: "07", count: 32)
            let text =
                #"{"recordName":"a","recordType":"Note","fields":{"image":{"type":"ASSETID","#
                + #""value":{"fileChecksum":"\#(sum)","size":3}}}}"# + "\n"
            let failures = try await self.run(text, opened).result.failures.kept
            let asset = Asset(sha256: [UInt8](repeating: 7, count: 32), size: 3)
            let path = opened.folder.path + "/notes.jsonl.assets"
            #expect(failures.map(\.reason) == [.asset(.isMissing(asset, folder: path))])
        }
    }

    @Test
    func `a file that is not there has the name that was given`() async throws {
        let error = #expect(throws: InputFileError.self) {
            try InputFile(path: "/absent/notes", name: "the notes", folder: "/", reserveBytes: 0)
        }
        #expect(error?.file == "the notes")
        #expect(error?.cause == .cannotOpen(FileError(errno: ENOENT)))
    }
}
