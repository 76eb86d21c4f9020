import CloudKit
import Foundation
import RecordModel
import Testing
import WireProtocol

/// What a server would make of a record's saves, one after another.
private struct PretendedServer {
    var body = RecordBody.empty
    var parent: String?
    var answerCount = 0

    mutating func answer(_ save: RecordSave) -> RecordSaved {
        self.body = self.body.merging(save.changes)
        switch save.parent {
        case .unchanged: break
        case .removed: self.parent = nil
        case .set(let name): self.parent = name
        }
        self.answerCount += 1
        return RecordSaved(
            changeTag: "t\(self.answerCount)",
            system: SystemFields(
                createdMilliseconds: 1,
                modifiedMilliseconds: 2,
                createdBy: "",
                modifiedBy: ""
            )
        )
    }
}

struct `A record that several tasks use` {
    static let rounds = 300

    @Test func `loses no change while its saves are answered`() async throws {
        let record = newRecord()
        let server = try await withThrowingTaskGroup(of: PretendedServer?.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    for round in 1...Self.rounds {
                        // A field of its own for every round: no later write makes up for one that is lost.
                        record["text\(writer)_\(round)"] = "\(round)"
                        record["place\(writer)"] = CLLocation(latitude: Double(round % 90), longitude: 0)
                        record.encryptedValues["secret\(writer)"] = round
                        record["gone\(writer)"] = round.isMultiple(of: 2) ? nil : round
                        record.setParent(CKRecord.ID(recordName: "p\(round)"))
                        await Task.yield()
                    }
                    return nil
                }
            }
            group.addTask {
                for _ in 1...Self.rounds / 10 {
                    Self.read(record)
                    await Task.yield()
                }
                return nil
            }
            group.addTask {
                var server = PretendedServer()
                for _ in 1...Self.rounds {
                    let sent = try record.save(policy: .changedKeys)
                    await Task.yield()
                    record.saved(server.answer(sent), sent: sent, currentUser: nil)
                }
                return server
            }
            return try await group.reduce(into: nil as PretendedServer?) {
                if let server = $1 { $0 = server }
            }
        }
        var last = try #require(server)
        let sent = try record.save(policy: .changedKeys)
        record.saved(last.answer(sent), sent: sent, currentUser: nil)

        #expect(record.changedKeys() == [])
        #expect(record.encryptedValues.changedKeys() == [])
        #expect(record.recordChangeTag == "t\(Self.rounds + 1)")
        #expect(last.parent == "p\(Self.rounds)")
        #expect(try record.save(policy: .changedKeys).parent == .unchanged)
        #expect(try record.save(policy: .allKeys).changes == last.body)
        for writer in 0..<3 {
            for round in 1...Self.rounds {
                #expect(record["text\(writer)_\(round)"] as? String == "\(round)")
            }
            #expect(record.encryptedValues["secret\(writer)"] as? Int == Self.rounds)
            #expect(record["gone\(writer)"] == nil)
        }
    }

    @Test func `lets a value that it drops use it`() {
        let record = newRecord()
        weak let dropped = Self.setFarewell(on: record)
        record["k"] = nil
        #expect(dropped == nil)
        #expect(record["farewell"] as? String == "k was dropped")
    }

    private static func setFarewell(on record: CKRecord) -> Farewell {
        let farewell = Farewell(to: record)
        record["k"] = farewell
        return farewell
    }

    private static func read(_ record: CKRecord) {
        for (key, value) in record where key == "none" { Issue.record("\(value)") }
        #expect(!record.description.isEmpty)
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encode(with: archiver)
        archiver.finishEncoding()
        let copy = record.copy() as? CKRecord
        #expect(copy?.recordID == record.recordID)
        #expect(copy.map { $0.changedKeys().allSatisfy { !$0.isEmpty } } == true)
        _ = record.parent?.recordID
        _ = record.modificationDate
        _ = record.allTokens()
    }
}

/// A value that no server takes, and that writes to its record when the record lets go of it.
private final class Farewell: NSObject, CKRecordValue {
    private weak var record: CKRecord?

    init(to record: CKRecord) { self.record = record }

    deinit { self.record?["farewell"] = "k was dropped" }
}
