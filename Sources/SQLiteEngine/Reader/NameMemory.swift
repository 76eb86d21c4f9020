/// Cached names by number, for one connection: names never change, so a cached one is valid in
/// every snapshot.
final class NameMemory {
    struct Name {
        let text: String
        /// The name in UTF-8, at a stable address.
        // SAFETY: valid until the names are forgotten, which happens between snapshots.
        let utf8: UnsafeRawBufferPointer
    }

    private var names: [Int64: Name] = [:]
    /// Most records have the type and the authors of the one before; no name has the number 0.
    // SAFETY: as `Name.utf8`.
    private var last: (number: Int64, utf8: UnsafeRawBufferPointer)

    /// Beyond this number all are forgotten.
    private static let namesMax = 10_000

    init() {
        // SAFETY: an empty buffer is never read.
        self.last = (0, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    deinit { self.forget() }

    func name(of number: Int64) -> Name? {
        guard let name = self.names[number] else { return nil }
        self.last = (number, name.utf8)
        return name
    }

    /// The UTF-8 of the last requested name, if it has this number.
    // SAFETY: as `Name.utf8`.
    func lastUTF8(of number: Int64) -> UnsafeRawBufferPointer? {
        self.last.number == number ? self.last.utf8 : nil
    }

    func keep(_ text: String, of number: Int64) -> Name {
        // SAFETY: freed by `forget` alone.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: text.utf8.count, alignment: 1)
        memory.copyBytes(from: text.utf8)
        let name = Name(text: text, utf8: UnsafeRawBufferPointer(memory))
        self.names.updateValue(name, forKey: number)?.utf8.deallocate()
        self.last = (number, name.utf8)
        return name
    }

    /// Called when no name is lent.
    func forgetIfMany() {
        if self.names.count >= Self.namesMax { self.forget() }
    }

    private func forget() {
        for name in self.names.values { name.utf8.deallocate() }
        self.names = [:]
        // SAFETY: an empty buffer is never read.
        self.last = (0, UnsafeRawBufferPointer(start: nil, count: 0))
    }
}
