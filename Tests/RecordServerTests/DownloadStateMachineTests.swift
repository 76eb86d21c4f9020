import NIOCore
import RecordModel
import StorageContract
import Testing

@testable import RecordServer

/// A download from its request to its end, as transcripts.
struct DownloadStateMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)
    private static let hash = [UInt8](repeating: 0, count: 32)

    private static func located(
        _ machine: inout DownloadStateMachine,
        size: Int64
    ) throws
        -> DownloadStateMachine.OnSent
    {
        let stored = StoredAsset(
            number: AssetNumber(rawValue: 1),
            asset: Asset(sha256: self.hash, size: size)
        )
        return try machine.located([AssetRange(sha256: self.hash)], of: [stored])
    }

    @Test func `pieces are taken, told about every now and then, and the last one ends the download`() throws
    {
        var machine = DownloadStateMachine(now: Self.start)
        let before = machine.takenBytes
        #expect(before == nil)
        let located = try Self.located(&machine, size: 3)
        #expect(located == .goOn)
        var sent: [DownloadStateMachine.OnSent] = []
        for _ in 0..<3 {
            for piece in machine.take(upTo: 1, pieceBytesMax: 1) {
                sent.append(machine.sent(piece, now: Self.start))
            }
        }
        #expect(sent == [.tell(doneBytes: 1, totalBytes: 3), .goOn, .finish(totalBytes: 3)])
        let isTaken = machine.isTaken
        #expect(isTaken)
    }

    @Test func `a download of nothing ends when it is located`() throws {
        var machine = DownloadStateMachine(now: Self.start)
        let located = try Self.located(&machine, size: 0)
        #expect(located == .finish(totalBytes: 0))
    }

    @Test func `a client that gives no credit is waited for no longer than it may`() throws {
        var machine = DownloadStateMachine(now: Self.start)
        _ = try Self.located(&machine, size: 3)
        let early = machine.timerFired(
            now: Self.start + .seconds(20),
            hasCredit: false,
            timeout: .seconds(60)
        )
        #expect(early == .look(in: .seconds(40)))
        let late = Self.start + .seconds(60)
        let withCredit = machine.timerFired(now: late, hasCredit: true, timeout: .seconds(60))
        #expect(withCredit == .look(in: .seconds(60)))
        let without = machine.timerFired(now: late, hasCredit: false, timeout: .seconds(60))
        #expect(without == .fail)
    }
}
