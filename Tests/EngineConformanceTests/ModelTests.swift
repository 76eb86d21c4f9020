import RecordModel
import RecordStore
import StorageContract
import TestSupport
import Testing

@testable import EngineConformance

/// Random requests, executed by an engine and by a model.
///
/// `SEED=… swift test --filter ModelTests` repeats a run.
@Suite(.timeLimit(.minutes(10)))
struct ModelTests {
    private static let requests = 600
    private static let names = (0..<12).map { "r\($0)" }

    @Test(arguments: EngineKind.modelCases)
    func `an engine and the model agree about every outcome and every record`(kind: EngineKind) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        var it = try await EngineUnderTest.withNotes(kind)
        var model = StoreModel()
        // By name: the tag that the engine gave, and the revision that the model counts.
        var tags: [String: [Int: String]] = [:]
        for round in 0..<kind.rounds(Self.requests) {
            let looksAtTags = Int.random(in: 0..<3, using: &generator) > 0
            let chosen = Self.names.shuffled(using: &generator)
            let saveCount = Int.random(in: 0...4, using: &generator)
            let deleteCount = Int.random(in: 0...2, using: &generator)
            let saves = chosen.prefix(saveCount).map { Self.save($0, model, &generator) }
            let deletes = Array(chosen.suffix(deleteCount))
            let expected = model.modify(saves: saves, deletes: deletes, looksAtTags: looksAtTags)
            let request = it.newRequestID()
            let recordSaves = saves.map { save in
                Self.recordSave(save, tag: save.revision.map { tags[save.name]?[$0] ?? "none" })
            }
            let policy: ModifyRecords.Policy = looksAtTags ? .ifServerRecordUnchanged : .changedKeys
            let outcomes = try await it.modify(
                recordSaves,
                deletes: deletes.map { id($0) },
                policy: policy,
                id: request
            )
            #expect(outcomes.map(\.verdict) == expected, "round \(round) of seed \(generator.seed)")
            for (save, outcome) in zip(saves, outcomes) {
                guard let tag = outcome.tag, let item = model.items[save.name] else { continue }
                tags[save.name, default: [:]][item.revision] = tag
            }
            if outcomes.contains(where: { $0.error == nil }), Bool.random(using: &generator) {
                let replay = try await it.modify(
                    recordSaves,
                    deletes: deletes.map { id($0) },
                    policy: policy,
                    id: request
                )
                #expect(replay == outcomes, "replay in round \(round) of seed \(generator.seed)")
            }
            if round % 100 == 99 { it = try await it.reopened() }
            try await Self.compare(it, model, tags, "round \(round) of seed \(generator.seed)")
        }
    }

    /// One item a request, as a public database has no atomic batches.
    @Test(arguments: EngineKind.modelCases)
    func `in a public database two users bind their own records, and none of the other's`(
        kind: EngineKind
    ) async throws {
        var generator = SeededGenerator.fromEnvironment()
        print("SEED=\(generator.seed)")
        let it = try EngineUnderTest(kind)
        var model = StoreModel()
        var tags: [String: [Int: String]] = [:]
        for round in 0..<kind.rounds(Self.requests * 2) {
            let place: Comment = "round \(round) of seed \(generator.seed)"
            let requester = [it.publicly, it.bobPublicly].randomElement(using: &generator)!
            let name = Self.names.randomElement(using: &generator)!
            let deletes = Int.random(in: 0..<6, using: &generator) == 0 ? [name] : []
            let saves = deletes.isEmpty ? [Self.save(name, model, &generator)] : []
            let expected = model.modify(
                saves: saves,
                deletes: deletes,
                looksAtTags: true,
                by: requester.userRecordName
            )
            let outcomes = try await it.modify(
                saves.map { save in
                    let tag = save.revision.map { tags[save.name]?[$0] ?? "none" }
                    return Self.recordSave(save, in: .default, tag: tag)
                },
                deletes: deletes.map { id($0, in: .default) },
                by: requester
            )
            #expect(outcomes.map(\.verdict) == expected, place)
            for (save, outcome) in zip(saves, outcomes) {
                guard let tag = outcome.tag, let item = model.items[save.name] else { continue }
                tags[save.name, default: [:]][item.revision] = tag
            }
            try await Self.compare(it, in: .default, by: it.publicly, model, tags, place)
        }
    }

    private static func save(
        _ name: String,
        _ model: StoreModel,
        _ generator: inout SeededGenerator
    ) -> StoreModel.Save {
        func target() -> String?? {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: .some(nil)
            case 1, 2: .some(self.names.randomElement(using: &generator))
            default: nil
            }
        }
        let current = model.items[name]?.revision
        let isHonest = Int.random(in: 0..<12, using: &generator) > 0
        return StoreModel.Save(
            name: name,
            revision: isHonest ? current : current.flatMap { Bool.random(using: &generator) ? $0 - 1 : nil },
            number: Bool.random(using: &generator) ? Int64.random(in: 0..<100, using: &generator) : nil,
            dependsOn: target(),
            validates: target(),
            parent: target()
        )
    }

    private static func recordSave(
        _ save: StoreModel.Save,
        in zone: ZoneID = notes,
        tag: String?
    ) -> RecordSave {
        var fields: [String: FieldValue] = [:]
        if let number = save.number { fields["n"] = .int64(number) }
        if let target = save.dependsOn { fields["d"] = target.map { reference($0, .deleteSelf) } ?? .clear }
        if let target = save.validates { fields["v"] = target.map { reference($0, .validate) } ?? .clear }
        let parent: RecordSave.ParentChange =
            switch save.parent {
            case nil: .unchanged
            case .some(nil): .removed
            case .some(.some(let name)): .set(recordName: name)
            }
        return EngineConformance.save(save.name, in: zone, tag: tag, fields, parent: parent)
    }

    private static func compare(
        _ it: EngineUnderTest,
        in zone: ZoneID = notes,
        by requester: Requester? = nil,
        _ model: StoreModel,
        _ tags: [String: [Int: String]],
        _ place: Comment
    ) async throws {
        let outcomes = try await it.fetch(self.names.map { id($0, in: zone) }, by: requester)
        for (name, outcome) in zip(self.names, outcomes) {
            guard case .record(let record) = outcome else {
                #expect(model.items[name] == nil, place)
                continue
            }
            let item = try #require(model.items[name], place)
            #expect(record["n"] == item.number.map { .int64($0) }, place)
            #expect(record["d"] == item.dependsOn.map { reference($0, .deleteSelf) }, place)
            #expect(record["v"] == item.validates.map { reference($0, .validate) }, place)
            #expect(record.parent == item.parent, place)
            #expect(record.changeTag == tags[name]?[item.revision], place)
        }
    }
}

extension WriteOutcome {
    fileprivate var verdict: StoreModel.Verdict {
        switch self {
        case .recordSaved, .zoneSaved, .subscriptionSaved, .shareAccepted, .done: .saved
        case .deleted: .deleted
        case .failed: .failed
        }
    }
}
