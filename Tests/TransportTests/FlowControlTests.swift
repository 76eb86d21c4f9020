import Testing
import Transport

struct FlowControlTests {
    @Test func `a send window is open while it is positive`() {
        var window = SendWindow(bytes: 2)
        window.sent(1)
        #expect(window.isOpen)
        window.sent(1)
        #expect(!window.isOpen)
    }

    @Test func `a frame takes a send window below zero and a grant must make up for it`() {
        var window = SendWindow(bytes: 1)
        window.sent(100)
        #expect(window.bytes == -99)
        #expect(window.granted(99) == true)
        #expect(!window.isOpen)
        #expect(window.granted(1) == true)
        #expect(window.isOpen)
    }

    @Test(arguments: [
        (UInt32(0), false), (1, true), (0x7FFF_FF9B, true), (0x7FFF_FF9C, false), (.max, false),
    ])
    func `a grant of nothing or beyond 2³¹−1 is refused`(bytes: UInt32, isGranted: Bool) {
        var window = SendWindow(bytes: 100)
        let result = window.granted(bytes)
        #expect(result == isGranted)
        #expect(window.bytes == 100 + (isGranted ? Int64(bytes) : 0))
    }

    @Test func `a grant of 0 is refused`() {
        var window = SendWindow(bytes: 1)
        let isGranted = window.granted(0)
        #expect(!isGranted)
        #expect(window.bytes == 1)
    }

    @Test func `a send window ends at its bound`() {
        var window = SendWindow(bytes: UInt32(SendWindow.bytesMax) - 1)
        #expect(window.granted(1) == true)
        let isGranted = window.granted(1)
        #expect(!isGranted)
        #expect(window.bytes == SendWindow.bytesMax)
    }

    @Test func `a receive window takes a frame while it is positive`() {
        var window = ReceiveWindow(bytes: 10)
        #expect(window.received(9) == true)
        #expect(window.received(5) == true)
        #expect(window.bytes == -4)
        let isTaken = window.received(0)
        #expect(!isTaken)
    }

    @Test func `a frame beyond a receive window is granted whole once it is disposed of`() {
        var window = ReceiveWindow(bytes: 100)
        let results = [window.received(99), window.received(500), window.received(1)]
        #expect(results == [true, true, false])
        let grant = window.disposed(599)
        let isTaken = window.received(1)
        #expect(grant == 599 && isTaken)
    }

    @Test func `a receive window that is used up to the byte takes nothing`() {
        var window = ReceiveWindow(bytes: 10)
        #expect(window.received(10) == true)
        let isTaken = window.received(1)
        #expect(!isTaken)
        #expect(window.bytes == 0)
    }

    @Test func `what was disposed of is granted from half of the window on`() {
        var window = ReceiveWindow(bytes: 10)
        #expect(window.received(10) == true)
        #expect(window.disposed(4) == 0)
        #expect(window.disposed(1) == 5)
        #expect(window.bytes == 5)
        #expect(window.disposed(4) == 0)
        #expect(window.disposed(1) == 5)
        #expect(window.bytes == 10)
    }

    @Test(arguments: [UInt32(1), 2, 3, 65_536, 4_194_304])
    func `a window whose frames are all disposed of is open again`(size: UInt32) {
        var window = ReceiveWindow(bytes: size)
        for round in 0..<100 {
            var taken: [Int] = []
            while window.bytes > 0 {
                let frame = 1 + (round * 7_919) % (2 * Int(size))
                #expect(window.received(frame) == true)
                taken.append(frame)
            }
            for frame in taken { _ = window.disposed(frame) }
            #expect(window.bytes > 0)
        }
    }

    @Test func `a window whose size is set grows and shrinks with the share that it gets`() {
        var window = ReceiveWindow(bytes: 100, grantsFrom: .quarter)
        #expect(window.received(60) == true)
        #expect(window.disposed(60, size: 400) == 360)
        #expect(window.bytes == 400)
        #expect(window.received(250) == true)
        // What may come and what came are more than the share: nothing, until there is less.
        #expect(window.disposed(100, size: 200) == 0)
        #expect(window.received(150) == true)
        #expect(window.received(1) == false)
        #expect(window.disposed(149, size: 200) == 0)
        #expect(window.disposed(1, size: 200) == 50)
    }

    @Test(arguments: [1, 2, 65_536, 2_147_483_647] as [UInt32])
    func `a window that grants quarters is open again when its frames are all disposed of`(size: UInt32) {
        var window = ReceiveWindow(bytes: size, grantsFrom: .quarter)
        #expect(window.received(Int(size) + 262_000) == true)
        #expect(window.bytes == -262_000)
        #expect(window.received(1) == false)
        #expect(window.disposed(Int(size) + 262_000, size: size) > 0)
        #expect(window.bytes == Int64(size))
    }
}
