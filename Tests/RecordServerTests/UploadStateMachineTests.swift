import NIOCore
import RecordModel
import StorageContract
import Testing

@testable import RecordServer

/// An upload from its request to its end, as transcripts.
struct UploadStateMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let silence = UploadStateMachine.Silence(max: .seconds(60), contestedMax: .seconds(5))

    private static func assets(_ sizes: Int64...) -> [Asset] {
        sizes.map { Asset(sha256: [UInt8](repeating: 0, count: 32), size: $0) }
    }

    private static func number(_ number: Int64) -> AssetNumber { AssetNumber(rawValue: number) }

    private static func bytes(_ count: Int, at offset: Int64 = 0) -> AssetBytes {
        AssetBytes(
            item: 0,
            offset: offset,
            bytes: ByteBuffer(repeating: 1, count: count),
            payloadBytes: count + 12
        )
    }

    private static func ticket() -> UploadTurns.Ticket {
        UploadTurns(uploadsMax: 1).ask([self.number(1)]) { _ in }.ticket
    }

    /// An upload of one asset whose client may send.
    private static func receiving(size: Int64 = 1_000_000) -> UploadStateMachine {
        var machine = UploadStateMachine()
        _ = machine.begun([.incomplete(self.number(1))], now: self.start)
        _ = machine.turnAsked(self.ticket(), isNow: true)
        _ = machine.recovered([0], of: self.assets(size), now: self.start)
        return machine
    }

    // MARK: - Until the client may send

    @Test func `an upload that has its turn at once is looked at, and then the client may send`() {
        var machine = UploadStateMachine()
        let begun = machine.begun([.complete, .incomplete(Self.number(7))], now: Self.start)
        #expect(begun == .ask([Self.number(7)], ending: nil, releasing: []))
        let turn = machine.turnAsked(Self.ticket(), isNow: true)
        #expect(turn == .recover)
        let recovered = machine.recovered([5, 3], of: Self.assets(5, 10), now: Self.start)
        #expect(recovered == .receive(wantsBytes: true, isContested: false, nil))
    }

    @Test func `an upload of which nothing is missing is finished without a turn`() {
        var machine = UploadStateMachine()
        let begun = machine.begun([.complete], now: Self.start)
        #expect(begun == .complete)
        let recovered = machine.recovered([5], of: Self.assets(5), now: Self.start)
        #expect(recovered == .finish)
        let end = machine.ended()
        #expect(end == .init(batch: UploadBatch(), ticket: nil, numbers: [], touches: []))
    }

    @Test func `an upload that waited asks the registry again, and looks at what it had before`() {
        var machine = UploadStateMachine()
        _ = machine.begun([.incomplete(Self.number(1)), .incomplete(Self.number(2))], now: Self.start)
        let turn = machine.turnAsked(Self.ticket(), isNow: false)
        #expect(turn == .tellThatItLives)
        machine.turnCame()
        let begun = machine.begun([.complete, .incomplete(Self.number(2))], now: Self.start)
        #expect(begun == .recover(releasing: [Self.number(1), Self.number(2)]))
    }

    @Test func `an upload whose rows are others after its turn asks for another turn`() {
        let ticket = Self.ticket()
        var machine = UploadStateMachine()
        _ = machine.begun([.incomplete(Self.number(1))], now: Self.start)
        _ = machine.turnAsked(ticket, isNow: false)
        machine.turnCame()
        let begun = machine.begun([.incomplete(Self.number(9))], now: Self.start)
        #expect(begun == .ask([Self.number(9)], ending: ticket, releasing: [Self.number(1)]))
    }

    @Test func `a turn that somebody waits for is short, and the next turn of the upload is not`() {
        var machine = UploadStateMachine()
        _ = machine.begun([.incomplete(Self.number(1))], now: Self.start)
        _ = machine.turnAsked(Self.ticket(), isNow: false)
        machine.turnCame()
        let contested = machine.contested()
        #expect(contested == .ignore)
        _ = machine.begun([.incomplete(Self.number(9))], now: Self.start)
        _ = machine.turnAsked(Self.ticket(), isNow: true)
        let recovered = machine.recovered([0], of: Self.assets(10), now: Self.start)
        #expect(recovered == .receive(wantsBytes: true, isContested: false, nil))

        var other = UploadStateMachine()
        _ = other.begun([.incomplete(Self.number(1))], now: Self.start)
        _ = other.turnAsked(Self.ticket(), isNow: true)
        _ = other.contested()
        let shorter = other.recovered([0], of: Self.assets(10), now: Self.start)
        #expect(shorter == .receive(wantsBytes: true, isContested: true, nil))
    }

    @Test func `what is there as a whole is finished before any bytes come`() {
        var machine = UploadStateMachine()
        _ = machine.begun([.incomplete(Self.number(1))], now: Self.start)
        _ = machine.turnAsked(Self.ticket(), isNow: true)
        let recovered = machine.recovered([10], of: Self.assets(10), now: Self.start)
        var batch = UploadBatch()
        batch.finish(item: 0)
        let write = UploadStateMachine.Write(batch: batch, isDurabilityDue: false, touches: [])
        #expect(recovered == .receive(wantsBytes: false, isContested: false, write))
        let completed = machine.completed(item: 0, now: Self.start)
        #expect(completed == .finish)
    }

    // MARK: - Bytes

    @Test func `few bytes wait for more, and many are written at once`() {
        var machine = Self.receiving()
        let first = machine.received(Self.bytes(100), now: Self.start)
        #expect(first == .schedule)
        let second = machine.received(Self.bytes(100, at: 100), now: Self.start)
        #expect(second == .keep)
        let write = machine.writeDue(now: Self.start)
        #expect(write?.batch.payloadBytes == 224)
        let nothing = machine.writeDue(now: Self.start)
        #expect(nothing == nil)

        var other = Self.receiving()
        let many = other.received(Self.bytes(512 * 1_024), now: Self.start)
        guard case .write(let batch) = many else {
            Issue.record("many bytes were not written: \(many)")
            return
        }
        #expect(batch.batch.payloadBytes == 512 * 1_024 + 12)
    }

    @Test func `what comes while the lane is busy goes together, and its room is granted when it is written`()
    {
        var machine = Self.receiving()
        _ = machine.received(Self.bytes(512 * 1_024), now: Self.start)
        let kept = machine.received(Self.bytes(100, at: 512 * 1_024), now: Self.start)
        #expect(kept == .keep)
        let later = Self.start + .seconds(2)
        let written = machine.written(durable: [(item: 0, bytes: 512 * 1_024)], due: 0, now: later)
        #expect(written?.grants == true)
        #expect(written?.syncs == 0)
        #expect(written?.report == .init(doneBytes: 512 * 1_024, totalBytes: 1_000_000))
        #expect(written?.writes?.batch.payloadBytes == 112)
    }

    @Test func `many bytes overtake the time for which few waited, and nothing is written twice`() {
        var machine = Self.receiving()
        let few = machine.received(Self.bytes(100), now: Self.start)
        #expect(few == .schedule)
        let many = machine.received(Self.bytes(512 * 1_024, at: 100), now: Self.start)
        guard case .write(let write) = many else {
            Issue.record("many bytes were not written: \(many)")
            return
        }
        #expect(write.batch.payloadBytes == 100 + 512 * 1_024 + 24)
        let behind = machine.received(Self.bytes(100, at: 100 + 512 * 1_024), now: Self.start)
        #expect(behind == .keep)
        let late = machine.writeDue(now: Self.start)
        #expect(late == nil, "the lane is writing")
        let written = machine.written(durable: [], due: nil, now: Self.start)
        #expect(written?.writes?.batch.payloadBytes == 112)
    }

    @Test func `one thing is made durable at a time, while bytes go on coming`() {
        var machine = Self.receiving()
        _ = machine.received(Self.bytes(512 * 1_024), now: Self.start)
        _ = machine.written(durable: [], due: 0, now: Self.start)
        _ = machine.received(Self.bytes(400_000, at: 512 * 1_024), now: Self.start)
        _ = machine.writeDue(now: Self.start)
        let again = machine.written(durable: [], due: 0, now: Self.start)
        #expect(again?.syncs == nil)
        let durable = machine.becameDurable(item: 0, bytes: 900_000, isMoreDue: true, now: Self.start)
        #expect(durable?.syncsAgain == true)
    }

    @Test func `bytes that are not those that come next are refused`() {
        var machine = Self.receiving()
        let refused = machine.received(Self.bytes(10, at: 5), now: Self.start)
        #expect(refused == .refuse(item: 0))
    }

    @Test func `the registry hears of an upload once a minute, when bytes are written`() {
        var machine = Self.receiving()
        _ = machine.received(Self.bytes(100), now: Self.start)
        let soon = machine.writeDue(now: Self.start + .seconds(59))
        #expect(soon?.touches == [] && soon?.isDurabilityDue == true)
        _ = machine.written(durable: [], due: nil, now: Self.start + .seconds(59))
        _ = machine.received(Self.bytes(100, at: 100), now: Self.start + .seconds(60))
        let later = machine.writeDue(now: Self.start + .seconds(60))
        #expect(later?.touches == [Self.number(1)])
    }

    // MARK: - Ends

    @Test func `a full disk gives the upload up, and what still comes is ignored`() {
        var machine = Self.receiving()
        _ = machine.received(Self.bytes(512 * 1_024), now: Self.start)
        machine.writeFailed()
        let failed = machine.fileFailed(item: 0, isDiskFull: true)
        #expect(failed == .giveUp)
        let data = machine.received(Self.bytes(1, at: 512 * 1_024), now: Self.start)
        #expect(data == .ignore)
        let again = machine.fileFailed(item: 0, isDiskFull: true)
        #expect(again == .ignore)
        let timer = machine.timerFired(now: Self.start + .hours(1), mayReceive: true, silence: Self.silence)
        #expect(timer == .ignore)
        let end = machine.ended()
        #expect(end.batch == UploadBatch() && end.numbers == [Self.number(1)])
        #expect(end.touches == [Self.number(1)])
    }

    @Test func `any other failure of a file ends the upload`() {
        var machine = Self.receiving()
        let failed = machine.fileFailed(item: 0, isDiskFull: false)
        #expect(failed == .fail)
    }

    @Test func `what came before the end is written, and what was durable stays for a while`() {
        var machine = Self.receiving()
        _ = machine.received(Self.bytes(100), now: Self.start)
        let end = machine.ended()
        #expect(end.batch.payloadBytes == 112 && end.ticket != nil)
        #expect(end.touches == [Self.number(1)])
        let write = machine.writeDue(now: Self.start)
        #expect(write == nil)
        let written = machine.written(durable: [], due: nil, now: Self.start)
        #expect(written == nil)
    }

    @Test func `only a deadline ends an upload whose client has heard nothing`() {
        var machine = UploadStateMachine()
        let first = machine.timerFired(now: Self.start, mayReceive: false, silence: Self.silence)
        #expect(first == .lookAtDeadline)
        _ = machine.begun([.incomplete(Self.number(1))], now: Self.start)
        _ = machine.turnAsked(Self.ticket(), isNow: false)
        let waiting = machine.timerFired(now: Self.start, mayReceive: false, silence: Self.silence)
        #expect(waiting == .tellThatItLives)
        machine.turnCame()
        let again = machine.timerFired(now: Self.start, mayReceive: false, silence: Self.silence)
        #expect(again == .tellThatItLives)
    }

    @Test func `a client that may send is silent no longer than it may, and less when others wait`() {
        var machine = Self.receiving()
        func look(
            _ machine: inout UploadStateMachine,
            after time: TimeAmount,
            _ mayReceive: Bool = true
        )
            -> UploadStateMachine.OnTimer
        {
            machine.timerFired(now: Self.start + time, mayReceive: mayReceive, silence: Self.silence)
        }
        let look1 = look(&machine, after: .seconds(20))
        #expect(look1 == .look(in: .seconds(40)))
        let look2 = look(&machine, after: .seconds(90), false)
        #expect(look2 == .look(in: .seconds(60)))
        let contested = machine.contested()
        #expect(contested == .look)
        let look3 = look(&machine, after: .seconds(4))
        #expect(look3 == .look(in: .seconds(1)))
        let look4 = look(&machine, after: .seconds(5))
        #expect(look4 == .fail(isContested: true))
        machine.windowOpened(now: Self.start + .seconds(5))
        let look5 = look(&machine, after: .seconds(6))
        #expect(look5 == .look(in: .seconds(4)))
        var other = Self.receiving()
        let look6 = look(&other, after: .seconds(60))
        #expect(look6 == .fail(isContested: false))
    }
}
