import CloudKit
import Foundation
import TestSupport
import Testing

/// What a server does on a disk that is really full, with the reserve that it keeps for it.
@Suite(.timeLimit(.minutes(10)))
struct FullDiskTests {
    @Test func `on a full disk saves are refused, and deletes and commands work, until there is room again`()
        async throws
    {
        try await FullDisk.run { disk in
            #expect(disk.bytes("reserve") == FullDisk.reserveBytes)
            try disk.fill()
            let saved = try await disk.saveUntilRefused("r")
            #expect(disk.bytes("reserve") < FullDisk.reserveBytes)
            #expect(
                try await disk.readiness() == "disk full: only deletes and administration are executed\n"
            )
            // Again and again: the room of the log is used again.
            for name in saved {
                let id = CKRecord.ID(recordName: name)
                if name == saved.first {
                    #expect(try await disk.database.record(for: id).recordID == id)
                } else {
                    try await disk.database.deleteRecord(withID: id)
                }
            }
            try await disk.administer("user", "add", "bob", "--container", FullDisk.container)
            #expect(
                try await disk.administer("user", "list", "--container", FullDisk.container).contains("bob")
            )
            #expect(try await disk.administer("usage").contains(FullDisk.container))
            try await disk.administer("user", "revoke", "bob", "--container", FullDisk.container)
            disk.makeRoom()
            #expect(await disk.takesSavesAgain("again"))
            await eventually { disk.bytes("reserve") == FullDisk.reserveBytes }
            #expect(try await disk.readiness() == "ok\n")
            await eventually {
                let log = disk.server.log()
                return log.contains("the disk is full: only deletes and administration are executed")
                    && log.contains("the disk has room again")
            }
        }
    }

    @Test func `a disk is full for load balancers too when somebody else has given the reserve back`()
        async throws
    {
        try await FullDisk.run { disk in
            // The first sign-in of a user needs room as well.
            try await disk.database.save(disk.record("first"))
            try disk.fill()
            // As a command does that needs room.
            #expect(truncate(disk.path("reserve"), 0) == 0)
            try disk.fill()
            _ = try await disk.saveUntilRefused("r")
            #expect(
                try await disk.readiness() == "disk full: only deletes and administration are executed\n"
            )
            let missing = try await disk.gauge("tidemark_disk_reserve_missing_bytes")
            #expect(missing == Double(FullDisk.reserveBytes))
            disk.makeRoom()
            #expect(await disk.takesSavesAgain("again"))
            try await eventually { try await disk.readiness() == "ok\n" }
        }
    }

    @Test func `on a full disk the files of deleted records make room at once`() async throws {
        try await FullDisk.run { disk in
            let record = disk.record("file")
            record["file"] = try disk.asset(bytes: 20_000_000)
            try await disk.database.save(record)
            try disk.fill()
            _ = try await disk.saveUntilRefused("r")
            try await disk.database.deleteRecord(withID: record.recordID)
            await eventually { disk.freeBytes > 10_000_000 }
            #expect(await disk.takesSavesAgain("again"))
            try await eventually { try await disk.readiness() == "ok\n" }
        }
    }

    @Test func `an upload that the disk has no room for has the room of deleted files soon`() async throws {
        try await FullDisk.run { disk in
            let record = disk.record("file")
            record["file"] = try disk.asset(bytes: 40_000_000)
            try await disk.database.save(record)
            try await disk.database.deleteRecord(withID: record.recordID)
            let other = disk.record("other")
            other["file"] = try disk.asset(bytes: 39_000_000)
            // The first attempt asks for the room; the second has it.
            _ = try? await disk.database.save(other)
            await eventually { disk.freeBytes > 45_000_000 }
            try await disk.database.save(other)
        }
    }

    @Test func `a store that has filled its disk takes saves again when enough was deleted in it`()
        async throws
    {
        try await FullDisk.run { disk in
            let saved = try await disk.saveUntilRefused("r")
            #expect(saved.count > 300)
            for name in saved.prefix(200) {
                try await disk.database.deleteRecord(withID: CKRecord.ID(recordName: name))
            }
            #expect(await disk.takesSavesAgain("again"))
            for name in saved.suffix(3) {
                let record = try await disk.database.record(for: CKRecord.ID(recordName: name))
                #expect((record["data"] as? Data)?.count == 50_000)
            }
        }
    }

    @Test(arguments: [SIGKILL, SIGTERM])
    func `a server starts on a disk that is full, and deletes`(signal: Int32) async throws {
        try await FullDisk.run { disk in
            try await disk.database.save(disk.record("first"))
            // The reserve is there: the disk fills while nobody serves.
            await disk.server.end(signal)
            try disk.fill()
            try await disk.server.start()
            let saved = try await disk.saveUntilRefused("r")
            // And it is not.
            await disk.server.end(signal)
            try await disk.server.start()
            for name in saved + ["first"] {
                try await disk.database.deleteRecord(withID: CKRecord.ID(recordName: name))
            }
            try await disk.administer("user", "add", "bob", "--container", FullDisk.container)
            disk.makeRoom()
            #expect(await disk.takesSavesAgain("again"))
            await eventually { disk.bytes("reserve") == FullDisk.reserveBytes }
        }
    }

    @Test func `a command has the reserve of a server that has not noticed yet that the disk is full`()
        async throws
    {
        try await FullDisk.run { disk in
            try disk.fill()
            for number in 0..<5 {
                try await disk.administer("user", "add", "user\(number)", "--container", FullDisk.container)
            }
            disk.makeRoom()
            #expect(await disk.takesSavesAgain("again"))
            await eventually { disk.bytes("reserve") == FullDisk.reserveBytes }
        }
    }

    @Test func `a delete that takes thousands of records along ends on a full disk`() async throws {
        try await FullDisk.run { disk in
            let root = CKRecord.ID(recordName: "root")
            try await disk.database.save(disk.record("root"))
            for branch in 0..<9 {
                let parent = disk.record("branch\(branch)")
                parent["above"] = CKRecord.Reference(recordID: root, action: .deleteSelf)
                let children = (0..<399).map { number in
                    let child = disk.record("child\(branch)-\(number)")
                    child["above"] = CKRecord.Reference(recordID: parent.recordID, action: .deleteSelf)
                    return child
                }
                let results = try await disk.database.modifyRecords(
                    saving: [parent] + children,
                    deleting: []
                )
                #expect(results.saveResults.values.allSatisfy { (try? $0.get()) != nil })
            }
            try disk.fill()
            _ = try await disk.saveUntilRefused("r")
            try await disk.database.deleteRecord(withID: root)
            for name in ["root", "child0-0", "child8-398"] {
                await expect(.unknownItem) {
                    _ = try await disk.database.record(for: CKRecord.ID(recordName: name))
                }
            }
            disk.makeRoom()
            #expect(await disk.takesSavesAgain("again"))
        }
    }
}
