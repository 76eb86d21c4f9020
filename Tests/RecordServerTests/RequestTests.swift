import CloudKitTesting
import NIOCore
import RecordModel
import Synchronization
import TestSupport
import Testing
import WireProtocol

@testable import RecordServer

@Suite(.timeLimit(.minutes(10)))
struct RequestTests {
    @Test func `a record is saved, fetched, changed by somebody else, and deleted`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 1, bytes: 500)
            let peer = try await server.signIn()
            try await peer.send(.fetch(["0", "absent"]), on: 1)
            let fetched = try await peer.answer(on: 1)
            #expect(fetched.end.failure == nil)
            #expect(fetched.items.map(\.index) == [0, 1])
            guard case .record(let message)? = fetched.items.first?.outcome else {
                Issue.record("no record came")
                return
            }
            let record = try message.record()
            #expect(record.id.recordName == "0")
            #expect(record.system.createdBy == ServerUnderTest.userRecordName)
            #expect(Self.failure(fetched.items.last)?.code == .unknownItem)

            try await peer.send(.save(["0"]), on: 3)
            let conflict = Self.failure(try await peer.answer(on: 3).items.first)
            #expect(conflict?.code == .serverRecordChanged)
            #expect(conflict?.serverRecord == record)
            #expect(conflict?.message == "record to insert already exists")

            let delete = ModifyRecords(scope: .private, saves: [], deletes: [record.id])
            try await peer.send(.modifyRecords(delete), on: 5)
            #expect(try await peer.answer(on: 5).items == [Item(index: 0, outcome: .deleted)])
        }
    }

    @Test func `streams are answered each for itself, whatever their order`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 3, bytes: 10)
            let peer = try await server.signIn()
            let streams: [UInt32] = [1, 3, 5, 7, 9, 11]
            try await peer.send(
                streams.map { stream in
                    stream.isMultiple(of: 3)
                        ? .request(.save(["new\(stream)"]), on: stream)
                        : .request(.fetch(["0", "1", "2"]), on: stream)
                }
            )
            var items: [UInt32: Int] = [:]
            var ended: Set<UInt32> = []
            while ended.count < streams.count, let frame = await peer.next() {
                if frame.kind == .items {
                    #expect(!ended.contains(frame.stream))
                    items[frame.stream, default: 0] += try Items(decoding: frame.payload).items.count
                } else if frame.kind == .end {
                    #expect(try End(decoding: frame.payload).failure == nil)
                    ended.insert(frame.stream)
                }
            }
            #expect(items == [1: 3, 3: 1, 5: 3, 7: 3, 9: 1, 11: 3])
        }
    }

    @Test func `a request sent again is one execution`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let requestID = RequestID(high: 0x018B_CFE5_6800_7000, low: 0x8000_0000_0000_0001)
            var answers: [[Item]] = []
            for _ in 0..<2 {
                let peer = try await server.signIn()
                try await peer.send(.request(.save(["once"]), on: 1, requestID: requestID))
                answers.append(try await peer.answer(on: 1).items)
                await peer.close()
            }
            #expect(answers[0] == answers[1])
            guard case .recordSaved? = answers[0].first?.outcome else {
                Issue.record("the record was not saved")
                return
            }
        }
    }

    @Test func `a request may name 400 items and not 401`() async throws {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let peer = try await server.signIn()
            try await peer.send(.fetch((0..<400).map { "\($0)" }), on: 1)
            #expect(try await peer.answer(on: 1).items.count == 400)
            try await peer.send(.fetch((0..<401).map { "\($0)" }), on: 3)
            let refused = try await peer.answer(on: 3)
            #expect(refused.items.isEmpty)
            #expect(refused.end.failure?.code == .limitExceeded)
            #expect(
                refused.end.failure?.message
                    == "Your request contains 401 items which is more than the maximum number of items "
                    + "in a single request (400)"
            )
        }
    }

    @Test func `a request beyond 2 MiB is refused and the connection goes on`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            try await peer.send(.save(["0", "1", "2"], bytes: 700 * 1_024), on: 1)
            #expect(try await peer.answer(on: 1).end.failure?.code == .limitExceeded)
            try await peer.send(.fetch(["0"]), on: 3)
            #expect(try await peer.answer(on: 3).items.count == 1)
        }
    }

    @Test func `a save without a request ID is refused`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            let request = Request(requestID: nil, deadlineMilliseconds: 0, operation: .save(["0"]))
            try await peer.send(Frame(kind: .request, stream: 1, payload: request.encoded()))
            #expect(try await peer.answer(on: 1).end.failure?.code == .invalidArguments)
        }
    }

    @Test func `another request with a used ID gets the items of the first, whatever it asks for`()
        async throws
    {
        try await ServerUnderTest.run { server in
            try await server.fill(records: 0, bytes: 0)
            let peer = try await server.signIn()
            var generator = SystemRandomNumberGenerator()
            let id = RequestID(milliseconds: ServerUnderTest.startMilliseconds, using: &generator)
            try await peer.send(.request(.save(["a"]), on: 1, requestID: id))
            let first = try await peer.answer(on: 1)
            let zones = Operation.modifyZones(
                ModifyZones(scope: .private, saves: [ZoneID(zoneName: "Other")])
            )
            for (stream, operation) in [(3, zones), (5, .save(["b", "c", "d"]))] as [(UInt32, Operation)] {
                try await peer.send(.request(operation, on: stream, requestID: id))
                let answer = try await peer.answer(on: stream)
                #expect(answer.items == first.items && answer.end == first.end)
            }
            try await peer.send(.fetch(["a", "b", "c", "d"]), on: 7)
            let fetched = try await peer.answer(on: 7).items.map(\.outcome)
            #expect(fetched.count { if case .failure = $0 { true } else { false } } == 3)
        }
    }

    @Test func `an operation of a later version is refused and the connection goes on`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            // Field 100 of Request: an empty message.
            try await peer.send(
                Frame(kind: .request, stream: 1, payload: ByteBuffer(bytes: [0xA2, 0x06, 0]))
            )
            #expect(try await peer.answer(on: 1).end.failure?.code == .operationUnknown)
            try await peer.send(.fetch(["0"]), on: 3)
            #expect(try await peer.answer(on: 3).items.count == 1)
        }
    }

    // MARK: - Who may do what

    @Test func `a shared database has nothing of one's own, and nobody has one who is not signed in`()
        async throws
    {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            try await peer.send(.fetch(["0"], scope: .shared), on: 1)
            let answer = try await peer.answer(on: 1)
            guard case .failure(let failure) = answer.items[0].outcome else {
                Issue.record("\(answer.items)")
                return
            }
            #expect(failure.code == .zoneNotFound)
            let stranger = try await server.signIn(token: "")
            try await stranger.send(.fetch(["0"], scope: .shared), on: 1)
            #expect(try await stranger.answer(on: 1).end.failure?.code == .notAuthenticated)
        }
    }

    @Test func `who is not signed in reads public databases and nothing else`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn(token: "")
            try await peer.send(.fetch(["0"]), on: 1)
            #expect(try await peer.answer(on: 1).end.failure?.code == .notAuthenticated)
            try await peer.send(.fetchZones(.init(scope: .public, selection: .all)), on: 3)
            #expect(try await peer.answer(on: 3).end.failure == nil)
            let save = ModifyRecords(scope: .public, saves: [], deletes: [])
            try await peer.send(.modifyRecords(save), on: 5)
            #expect(try await peer.answer(on: 5).end.failure?.code == .notAuthenticated)
        }
    }

    @Test func `a public database has no zones that come and go`() async throws {
        try await ServerUnderTest.run { server in
            let peer = try await server.signIn()
            let zones = ModifyZones(scope: .public, saves: [ServerUnderTest.zone])
            try await peer.send(.modifyZones(zones), on: 1)
            #expect(try await peer.answer(on: 1).end.failure?.code == .badDatabase)
        }
    }

    // MARK: - Deadlines, cancels, faults

    @Test(arguments: [UInt32(5_000), 60_000, 0, 100_000])
    func `a request whose deadline has passed is not executed`(deadline: UInt32) async throws {
        let clock = ManualClock(milliseconds: ServerUnderTest.startMilliseconds)
        let granted = deadline == 0 ? Int64(60_000) : min(Int64(deadline), 60_000)
        let faults: FaultInjector = { occasion in
            // The clock moves between the arrival and the execution: to the last moment, then past it.
            if occasion.operation == .fetchRecords {
                clock.advance(milliseconds: occasion.ordinal == 1 ? granted - 1 : granted)
            }
            return nil
        }
        try await ServerUnderTest.run(clock: clock, faults: faults) { server in
            let peer = try await server.signIn()
            try await peer.send(.fetch(["0"]), on: 1, deadlineMilliseconds: deadline)
            #expect(try await peer.answer(on: 1).end.failure == nil)
            try await peer.send(.fetch(["0"]), on: 3, deadlineMilliseconds: deadline)
            #expect(try await peer.answer(on: 3).end.failure?.code == .deadlineExceeded)
        }
    }

    @Test func `a cancelled request is not executed and ends with its code`() async throws {
        let faults: FaultInjector = { $0.operation == .modifyRecords ? .delay(.seconds(60)) : nil }
        try await ServerUnderTest.run(faults: faults) { server in
            let peer = try await server.signIn()
            try await peer.send(.save(["0"]), on: 1)
            try await peer.send(Frame(kind: .cancel, stream: 1))
            let answer = try await peer.answer(on: 1)
            #expect(answer.items.isEmpty)
            #expect(answer.end.failure?.code == .operationCancelled)
            try await peer.send(Frame(kind: .cancel, stream: 1))
            try await peer.send(.fetch(["0"]), on: 3)
            #expect(Self.failure(try await peer.answer(on: 3).items.first)?.code == .zoneNotFound)
        }
    }

    @Test func `a fault answers in place of the engine, for the request that was named`() async throws {
        let failure = Failure(code: .zoneBusy, message: "busy", retry: .after(milliseconds: 2_000))
        let faults: FaultInjector = { occasion in
            occasion.operation == .fetchRecords && occasion.ordinal == 2 ? .refuse(failure) : nil
        }
        try await ServerUnderTest.run(faults: faults) { server in
            let peer = try await server.signIn()
            for (stream, expected) in [(UInt32(1), nil), (3, failure), (5, nil)] {
                try await peer.send(.fetch(["0"]), on: stream)
                #expect(try await peer.answer(on: stream).end.failure == expected)
            }
        }
    }

    @Test(arguments: [0, 1, 2])
    func `a fault befalls one item, and in an atomic request the others with it`(number: Int) async throws {
        let failure = Failure(code: .zoneBusy, message: "busy", retry: .after(milliseconds: 2_000))
        let faults: FaultInjector = { occasion in
            [.fetchRecords, .modifyRecords].contains(occasion.operation) && occasion.ordinal == 1
                ? .refuseItem(number, failure) : nil
        }
        try await ServerUnderTest.run(faults: faults) { server in
            let peer = try await server.signIn()
            try await peer.send(
                .modifyZones(ModifyZones(scope: .private, saves: [ServerUnderTest.zone])),
                on: 1
            )
            _ = try await peer.answer(on: 1)
            try await peer.send(.save(["a", "b", "c"]), on: 3)
            let saved = try await peer.answer(on: 3).items.sorted { $0.index < $1.index }
            #expect(saved.map(\.index) == [0, 1, 2])
            for item in saved where item.index == number { #expect(Self.failure(item) == failure) }
            for item in saved where item.index != number {
                #expect(Self.failure(item)?.code == .batchRequestFailed)
                #expect(Self.failure(item)?.cause == .atomicPeer(index: UInt32(number)))
            }
            try await peer.send(.fetch(["a", "b", "c"]), on: 5)
            let fetched = try await peer.answer(on: 5).items.sorted { $0.index < $1.index }
            #expect(fetched.map(\.index) == [0, 1, 2])
            let codes = fetched.map { Self.failure($0)?.code }
            #expect(codes == (0..<3).map { $0 == number ? .zoneBusy : .unknownItem })
        }
    }

    @Test func `a connection that breaks after the commit leaves the record`() async throws {
        let faults: FaultInjector = { occasion in
            occasion.operation == .modifyRecords ? .dropConnectionAfterCommit : nil
        }
        try await ServerUnderTest.run(faults: faults) { server in
            try await server.fill(records: 0, bytes: 0)
            let peer = try await server.signIn()
            try await peer.send(.save(["kept"]), on: 1)
            #expect(await peer.rest() == [])
            let other = try await server.signIn()
            try await other.send(.fetch(["kept"]), on: 1)
            guard case .record? = try await other.answer(on: 1).items.first?.outcome else {
                Issue.record("the record is not there")
                return
            }
        }
    }

    @Test func `a connection that breaks before the execution leaves nothing`() async throws {
        let faults: FaultInjector = { occasion in
            occasion.operation == .modifyRecords ? .dropConnectionBeforeExecution : nil
        }
        try await ServerUnderTest.run(faults: faults) { server in
            try await server.fill(records: 0, bytes: 0)
            let peer = try await server.signIn()
            try await peer.send(.save(["lost"]), on: 1)
            #expect(await peer.rest() == [])
            let other = try await server.signIn()
            try await other.send(.fetch(["lost"]), on: 1)
            #expect(Self.failure(try await other.answer(on: 1).items.first)?.code == .unknownItem)
        }
    }

    static func failure(_ item: Item?) -> Failure? {
        guard case .failure(let failure)? = item?.outcome else { return nil }
        return failure
    }
}
