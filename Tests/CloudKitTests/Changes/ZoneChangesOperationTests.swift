import Foundation
import Testing

@testable import CloudKit

/// Everything that the blocks of an operation are told, in order.
private func transcript(
    _ operation: ScriptedZoneChanges,
    whenTold: @escaping @Sendable (String) -> Void = { _ in }
) async -> [String] {
    let events = Events()
    @Sendable func note(_ line: String) {
        events.note(line)
        whenTold(line)
    }
    operation.recordWasChangedBlock = { id, result in
        let record = try? result.get()
        note("\(id.zoneID.zoneName): \(id.recordName) \(record?.recordChangeTag ?? "?")")
    }
    operation.recordWithIDWasDeletedBlock = { id, type in
        note("\(id.zoneID.zoneName): \(id.recordName) deleted \(type)")
    }
    operation.recordZoneChangeTokensUpdatedBlock = { zone, token, data in
        note("\(zone.zoneName): token \(token?.text ?? "nil") \(data == nil)")
    }
    operation.recordZoneFetchResultBlock = { zone, result in
        switch result {
        case .success(let (token, data, moreComing)):
            note("\(zone.zoneName): ends \(token.text) \(data == nil) \(moreComing)")
        case .failure(let error): note("\(zone.zoneName): fails \(code(error))")
        }
    }
    operation.recordZoneFetchCompletionBlock = { zone, token, _, moreComing, error in
        note("\(zone.zoneName): completes \(token?.text ?? "nil") \(moreComing) \(code(error))")
    }
    operation.fetchRecordZoneChangesResultBlock = { result in
        switch result {
        case .success: note("ends")
        case .failure(let error): note("fails \(code(error))")
        }
    }
    operation.fetchRecordZoneChangesCompletionBlock = { error in
        note("completes \(code(error))")
        let errors = (error as? CKError)?.partialErrorsByItemID ?? [:]
        let lines = errors.map { "  \(($0 as? CKRecordZone.ID)?.zoneName ?? "?") \(code($1))" }
        for line in lines.sorted() { note(line) }
    }
    await operation.finish()
    return events.all
}

@Suite(.timeLimit(.minutes(10))) struct ZoneChangesOperationTests {
    @Test func `the token is reported between pages and never after the last`() async {
        let feed = ScriptedFeed([
            "a": [
                .items(
                    [saved("p", in: "a"), saved("c", in: "a", parent: "p")],
                    token: "1",
                    moreComing: true
                ),
                .items([gone("c", in: "a")], token: "2", moreComing: true),
                .items([saved("d", in: "a")], token: "3"),
            ]
        ])
        let lines = await transcript(ScriptedZoneChanges(feed, zones: ["a"]))
        #expect(
            lines == [
                "a: p t1", "a: c t1", "a: token 1 true", "a: c deleted Thing", "a: token 2 true", "a: d t1",
                "a: ends 3 true false", "a: completes 3 false 0", "ends", "completes 0",
            ]
        )
        #expect(feed.requests == ["a@", "a@1", "a@2"])
    }

    @Test func `without fetchAllChanges there is one page, and no token before its end`() async {
        let feed = ScriptedFeed(["a": [.items([saved("p", in: "a")], token: "1", moreComing: true)]])
        let operation = ScriptedZoneChanges(feed, zones: ["a"])
        operation.fetchAllChanges = false
        let lines = await transcript(operation)
        #expect(
            lines == ["a: p t1", "a: ends 1 true true", "a: completes 1 true 0", "ends", "completes 0"]
        )
        #expect(feed.requests == ["a@"])
    }

    @Test func `a zone begins at its configuration's token`() async {
        let feed = ScriptedFeed(["a": [.items([], token: "9")], "b": [.items([], token: "9")]])
        let operation = ScriptedZoneChanges(feed, zones: ["a", "b", "a"])
        operation.configurationsByRecordZoneID = [
            CKRecordZone.ID(zoneName: "b"): .init(previousServerChangeToken: CKServerChangeToken("7"))
        ]
        _ = await transcript(operation)
        #expect(feed.requests == ["a@", "b@7"])
    }

    @Test func `zones are those that have a configuration when none are named`() async {
        let feed = ScriptedFeed(["a": [.items([], token: "9")], "b": [.items([], token: "9")]])
        let operation = ScriptedZoneChanges(feed, zones: [])
        operation.recordZoneIDs = nil
        operation.configurationsByRecordZoneID = [
            CKRecordZone.ID(zoneName: "b"): .init(), CKRecordZone.ID(zoneName: "a"): .init(),
        ]
        _ = await transcript(operation)
        #expect(feed.requests == ["a@", "b@"])
    }

    @Test func `a zone whose token has expired fails alone`() async {
        let feed = ScriptedFeed([
            "a": [.items([], token: "1", moreComing: true), .failure(.changeTokenExpired)],
            "b": [.failure(.zoneNotFound)],
            "c": [.items([saved("r", in: "c")], token: "5")],
        ])
        let lines = await transcript(ScriptedZoneChanges(feed, zones: ["a", "b", "c"]))
        #expect(
            lines.filter { $0.hasPrefix("a") } == [
                "a: token 1 true", "a: fails 21", "a: completes nil false 21",
            ]
        )
        #expect(lines.filter { $0.hasPrefix("b") } == ["b: fails 26", "b: completes nil false 26"])
        #expect(
            lines.filter { $0.hasPrefix("c:") } == [
                "c: r t1", "c: ends 5 true false", "c: completes 5 false 0",
            ]
        )
        #expect(lines.suffix(4) == ["ends", "completes 2", "  a 21", "  b 26"])
    }

    @Test func `a failure of all zones ends the operation without ending a zone`() async {
        let feed = ScriptedFeed(["a": [.silence], "b": [.failure(.networkFailure)], "e": [.silence]])
        let lines = await transcript(ScriptedZoneChanges(feed, zones: ["a", "b", "c", "d", "e"]))
        #expect(lines == ["fails 4", "completes 4"])
        #expect(!feed.requests.contains("e@"), "the fifth waits for one of four to end")
    }

    @Test func `zones are reported one after the other, and the next ones are read two pages ahead`() async {
        let names = ["d", "a", "c", "b", "e"]
        func pages(_ zone: String) -> [ScriptedPage] {
            (1...4).map { number in
                .items([saved("r\(number)", in: zone)], token: "\(number)", moreComing: number < 4)
            }
        }
        let feed = ScriptedFeed(Dictionary(uniqueKeysWithValues: names.map { ($0, pages($0)) }))
        let operation = ScriptedZoneChanges(feed, zones: names)
        let ahead = Events()
        let lines = await transcript(operation) { line in
            guard line.hasPrefix("d: ") else { return }
            for zone in ["a", "c", "b", "e"] {
                let count = feed.requests.count { $0.hasPrefix(zone) }
                if count > (zone == "e" ? 0 : 2) { ahead.note("\(count) pages of \(zone) at \(line)") }
            }
        }
        #expect(ahead.all.isEmpty)
        let zones = lines.filter { $0.contains(": ") }.compactMap(\.first)
        #expect(zones == names.flatMap { name in Array(repeating: name.first, count: 9) }.compactMap { $0 })
        #expect(lines.suffix(2) == ["ends", "completes 0"])
    }

    @Test func `a zone that fails in its turn does not keep the next ones from theirs`() async {
        let feed = ScriptedFeed([
            "a": [
                .items([saved("r", in: "a")], token: "1", moreComing: true), .failure(.changeTokenExpired),
            ],
            "b": [.items([saved("r", in: "b")], token: "2")],
        ])
        let lines = await transcript(ScriptedZoneChanges(feed, zones: ["a", "b"]))
        #expect(
            lines == [
                "a: r t1", "a: token 1 true", "a: fails 21", "a: completes nil false 21", "b: r t1",
                "b: ends 2 true false", "b: completes 2 false 0", "ends", "completes 2", "  a 21",
            ]
        )
    }

    @Test func `five zones are read, four at once`() async {
        let names = ["a", "b", "c", "d", "e"]
        let pages = names.map { ($0, [ScriptedPage.items([saved("r", in: $0)], token: "1")]) }
        let feed = ScriptedFeed(Dictionary(uniqueKeysWithValues: pages))
        let lines = await transcript(ScriptedZoneChanges(feed, zones: names))
        #expect(feed.requests == ["a@", "b@", "c@", "d@", "e@"])
        for name in names {
            #expect(
                lines.filter { $0.hasPrefix("\(name): ") }
                    == ["\(name): r t1", "\(name): ends 1 true false", "\(name): completes 1 false 0"]
            )
        }
        #expect(lines.suffix(2) == ["ends", "completes 0"])
    }

    @Test func `an operation that is cancelled in a block ends, and no zone with it`() async {
        let feed = ScriptedFeed([
            "a": [.items([saved("r", in: "a")], token: "1", moreComing: true), .silence]
        ])
        let operation = ScriptedZoneChanges(feed, zones: ["a", "b"])
        operation.recordZoneIDs = [CKRecordZone.ID(zoneName: "a")]
        let lines = await transcript(operation) { [weak operation] line in
            if line == "a: token 1 true" { operation?.cancel() }
        }
        #expect(lines == ["a: r t1", "a: token 1 true", "fails 20", "completes 20"])
    }

    @Test func `a record that comes again in the same state is reported once`() async {
        let feed = ScriptedFeed([
            "a": [
                .items(
                    [saved("p", in: "a"), saved("c", in: "a", parent: "p")],
                    token: "1",
                    moreComing: true
                ),
                .items([saved("x", in: "a")], token: "2", moreComing: true),
                .items([saved("y", in: "a")], token: "3", moreComing: true),
                .items([saved("p", in: "a"), saved("z", in: "a")], token: "4", moreComing: true),
                .items([saved("p", in: "a", tag: "t2")], token: "5", moreComing: true),
                .items([saved("p", in: "a", tag: "t2")], token: "6"),
            ]
        ])
        let lines = await transcript(ScriptedZoneChanges(feed, zones: ["a"]))
        #expect(
            lines.filter { $0.contains(" t") && !$0.contains("token") && !$0.contains("true") }
                == ["a: p t1", "a: c t1", "a: x t1", "a: y t1", "a: z t1", "a: p t2"]
        )
    }

    @Test func `a feed that promises more and stands still ends`() async {
        let feed = ScriptedFeed([
            "a": [.items([], token: "1", moreComing: true), .items([], token: "1", moreComing: true)]
        ])
        let lines = await transcript(ScriptedZoneChanges(feed, zones: ["a"]))
        #expect(lines == ["a: token 1 true", "fails 1", "completes 1"])
    }

    @Test func `older blocks are told what newer ones are not there for`() async {
        let feed = ScriptedFeed(["a": [.items([saved("r", in: "a")], token: "1")]])
        let operation = ScriptedZoneChanges(feed, zones: ["a"])
        let events = Events()
        operation.recordChangedBlock = { events.note($0.recordID.recordName) }
        await operation.finish()
        let both = ScriptedZoneChanges(
            ScriptedFeed(["a": [.items([saved("r", in: "a")], token: "1")]]),
            zones: ["a"]
        )
        both.recordChangedBlock = { _ in events.note("must not be called") }
        both.recordWasChangedBlock = { id, _ in events.note("new \(id.recordName)") }
        await both.finish()
        #expect(events.all == ["r", "new r"])
    }

    @Test func `no zones succeed without a server`() async {
        let lines = await transcript(ScriptedZoneChanges(ScriptedFeed([:]), zones: []))
        #expect(lines == ["ends", "completes 0"])
    }

    @Test func `a server that cannot be reached is a networkFailure of the operation`() async {
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [CKRecordZone.ID(zoneName: "a")])
        operation.database = CKContainer.unreachable().privateCloudDatabase
        operation.configuration.timeoutIntervalForResource = 0.2
        let events = Events()
        operation.recordZoneFetchResultBlock = { _, _ in events.note("must not be called") }
        operation.fetchRecordZoneChangesCompletionBlock = { events.note("\(code($0))") }
        await operation.finish()
        #expect(events.all == ["4"])
        #expect(operation.fetchRecordZoneChangesCompletionBlock == nil)
    }

    @available(*, deprecated)
    @Test func `options are configurations`() async {
        let feed = ScriptedFeed(["a": [.items([], token: "9")]])
        let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
        options.previousServerChangeToken = CKServerChangeToken("3")
        let operation = ScriptedZoneChanges(feed, zones: ["a"])
        operation.optionsByRecordZoneID = [CKRecordZone.ID(zoneName: "a"): options]
        _ = await transcript(operation)
        #expect(feed.requests == ["a@3"])
    }
}
