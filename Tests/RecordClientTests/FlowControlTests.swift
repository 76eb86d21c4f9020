import Testing

@testable import RecordClient

@Suite struct FlowControlTests {
    @Test func `a send window is open until its last byte is spent, and one frame may take it below zero`() {
        var window = SendWindow(bytes: 100)
        window.spend(99)
        #expect(window.isOpen)
        window.spend(1)
        #expect(!window.isOpen)
        let isGranted = window.grant(1)
        #expect(isGranted && window.isOpen)
        window.spend(1_000)
        #expect(window.availableBytes == -999)
        let isStillBelow = window.grant(999)
        #expect(isStillBelow && !window.isOpen)
    }

    @Test(arguments: [
        (UInt32(0), false), (1, true), (0x7FFF_FF9B, true), (0x7FFF_FF9C, false), (.max, false),
    ])
    func `a grant of nothing or beyond 2³¹−1 is refused`(bytes: UInt32, isGranted: Bool) {
        var window = SendWindow(bytes: 100)
        let result = window.grant(bytes)
        #expect(result == isGranted)
        #expect(window.availableBytes == 100 + (isGranted ? Int64(bytes) : 0))
    }

    @Test func `a receive window grants once half of it is consumed`() {
        var window = ReceiveWindow(bytes: 100)
        let results = [window.receive(49), window.receive(1)]
        #expect(results == [true, true])
        let grants = [window.consume(49), window.consume(1), window.consume(49), window.consume(2)]
        #expect(grants == [nil, 50, nil, 51])
    }

    @Test func `a frame is taken while a byte of credit is left and none after that`() {
        var window = ReceiveWindow(bytes: 100)
        let results = [window.receive(99), window.receive(500), window.receive(1)]
        #expect(results == [true, true, false])
        let grant = window.consume(599)
        let isTaken = window.receive(1)
        #expect(grant == 599 && isTaken)
    }
}
