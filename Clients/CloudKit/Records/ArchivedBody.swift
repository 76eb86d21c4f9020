import Foundation
import RecordModel

/// The body of an archived object of ours: the parts of a canonical record body.
///
/// An archive has it as the bytes under one key. So equal objects have equal bytes there, and
/// reading checks everything.
struct ArchivedBody {
    static let key = "TidemarkBody"

    private let parts: [String: FieldValue]

    /// Reads the bytes of a body; `nil` if they are not one.
    init?(_ bytes: [UInt8]) {
        guard let body = try? RecordBody(checking: bytes, allowsClear: true) else { return nil }
        self.parts = Dictionary(
            body.fields.map { ($0.name, $0.value) },
            uniquingKeysWith: { _, last in last }
        )
    }

    func value(_ name: String) -> FieldValue? { self.parts[name] }

    func text(_ name: String) -> String? {
        guard case .string(let text) = self.parts[name] else { return nil }
        return text
    }

    func integer(_ name: String) -> Int64? {
        guard case .int64(let integer) = self.parts[name] else { return nil }
        return integer
    }

    func bytes(_ name: String) -> [UInt8]? {
        guard case .bytes(let bytes) = self.parts[name] else { return nil }
        return bytes
    }

    /// Returns the texts of a list; empty if there is none.
    func texts(_ name: String) -> [String] {
        guard case .stringList(let texts) = self.parts[name] else { return [] }
        return texts
    }

    /// Returns the texts of a list that may be empty; `nil` if there is none.
    func list(_ name: String) -> [String]? {
        self.parts[name].map { _ in self.texts(name) }
    }
}

extension Field {
    init(_ name: String, _ value: FieldValue) {
        self.init(name: name, value: value)
    }

    /// A list of texts, which may be empty.
    init(_ name: String, list: [String]) {
        self.init(name: name, value: list.isEmpty ? .emptyList : .stringList(list))
    }
}

extension NSCoder {
    /// Returns the body of the object that is being read; `nil` if it is absent or malformed.
    func archivedBody() -> ArchivedBody? {
        // Reading an absent key would fail the whole archive, not just this object. The value is
        // plain bytes, not `NSData`, because an object of another class in its place would end the
        // program.
        guard self.allowsKeyedCoding, self.containsValue(forKey: ArchivedBody.key) else { return nil }
        // SAFETY: the bytes are copied before the call returns.
        let bytes = self.withDecodedUnsafeBufferPointer(forKey: ArchivedBody.key) { $0.map { Array($0) } }
        return bytes.flatMap { ArchivedBody($0) }
    }

    func encodeBody(_ parts: [Field]) {
        let bytes = RecordBody(parts).bytes
        self.encodeBytes(bytes, length: bytes.count, forKey: ArchivedBody.key)
    }
}
