import Testing

@testable import tidemark_load

@Suite
struct KeyTableTests {
    private var keys = KeyTable(worker: 3, plain: 40, special: 4)

    @Test
    func `an acknowledged save must be found, and nothing else`() {
        var keys = self.keys
        let version = keys.beginSave(7)
        keys.ended(7, .written)
        let now = keys.ticks
        #expect(keys.found(version, 7, since: now) == nil)
        #expect(keys.found(0, 7, since: now) == [version])
        #expect(keys.found(version + 1, 7, since: now) == [version])
    }

    @Test
    func `a refused save leaves what was there`() {
        var keys = self.keys
        _ = keys.beginSave(0)
        keys.ended(0, .written)
        let refused = keys.beginSave(0)
        keys.ended(0, .notWritten)
        #expect(keys.found(1, 0, since: keys.ticks) == nil)
        #expect(keys.found(refused, 0, since: keys.ticks) == [1])
    }

    @Test
    func `a deleted record stays deleted`() {
        var keys = self.keys
        _ = keys.beginSave(0)
        keys.ended(0, .written)
        keys.beginDelete(0)
        keys.ended(0, .written)
        #expect(keys.found(0, 0, since: keys.ticks) == nil)
        #expect(keys.found(1, 0, since: keys.ticks) == [0])
    }

    @Test
    func `a save without an answer may have taken effect or not, and keeps its key`() {
        var keys = self.keys
        _ = keys.beginSave(0)
        keys.ended(0, .written)
        let lost = keys.beginSave(0)
        keys.ended(0, .undecided)
        #expect(keys.keys[0].permits(1))
        #expect(keys.keys[0].permits(lost))
        #expect(!keys.keys[0].permits(0))
        #expect(keys.writable(0, .plain) == 1)
        // That it has not taken effect so far says nothing.
        #expect(keys.found(1, 0, since: keys.ticks) == nil)
        #expect(keys.keys[0].permits(lost))
        // That it has is the end of it.
        #expect(keys.found(lost, 0, since: keys.ticks) == nil)
        #expect(!keys.keys[0].permits(1))
        #expect(keys.writable(0, .plain) == 0)
    }

    @Test
    func `a save that was refused when it was sent again may have taken effect, until the next one`() {
        var keys = self.keys
        let doubtful = keys.beginSave(0)
        keys.ended(0, .unknown)
        #expect(keys.keys[0].permits(0))
        #expect(keys.keys[0].permits(doubtful))
        #expect(keys.writable(0, .plain) == 0)
        let next = keys.beginSave(0)
        keys.ended(0, .written)
        #expect(!keys.keys[0].permits(doubtful))
        #expect(keys.found(next, 0, since: keys.ticks) == nil)
    }

    @Test
    func `a reading says nothing about a key that was written meanwhile`() {
        var keys = self.keys
        _ = keys.beginSave(0)
        keys.ended(0, .written)
        let before = keys.ticks
        _ = keys.beginSave(0)
        #expect(keys.found(99, 0, since: before) == nil)
        let during = keys.ticks
        keys.ended(0, .written)
        #expect(keys.found(99, 0, since: during) == nil)
        #expect(keys.found(99, 0, since: keys.ticks) == [2])
    }

    @Test
    func `a key that is being written is not written by another`() {
        var keys = self.keys
        _ = keys.beginSave(39)
        #expect(keys.writable(39, .plain) == 0)
        keys.hold(40)
        #expect(keys.writable(0, .push) == 41)
        keys.ended(40, .notWritten)
        #expect(keys.writable(0, .push) == 40)
        for key in keys.range(of: .asset) { keys.hold(key) }
        #expect(keys.writable(2, .asset) == nil)
    }

    @Test
    func `a key whose save was not notified yet is not written again`() {
        var keys = self.keys
        let version = keys.beginSave(40)
        keys.ended(40, .written, isAwaited: true)
        #expect(keys.writable(0, .push) == 41)
        #expect(keys.keys[40].permits(version))
        keys.ended(40, .notWritten)
        #expect(keys.writable(0, .push) == 40)
        #expect(keys.keys[40].permits(version))
        // A save that failed is awaited by nobody.
        _ = keys.beginSave(40)
        keys.ended(40, .notWritten, isAwaited: true)
        #expect(keys.writable(0, .push) == 40)
    }

    @Test(arguments: [0, 1, 39, 1_000_000])
    func `a name contains its owner`(key: Int) throws {
        let name = KeyTable.recordName(key, of: 12)
        let owner = try #require(KeyTable.owner(of: name))
        #expect(owner.worker == 12)
        #expect(owner.key == key)
    }

    @Test(arguments: ["", "12345678", "12345678-1", "12345678-1-x", "1234-1-1", "12345678-1-1-1"])
    func `a name of an unknown kind has no owner`(name: String) {
        #expect(KeyTable.owner(of: name) == nil)
    }
}
