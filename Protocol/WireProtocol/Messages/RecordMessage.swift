import NIOCore
package import RecordModel

/// An encoded record: it is read and checked when it is accessed.
///
/// A page has hundreds. Receivers may pass them on, or leave reading to another thread.
package struct RecordMessage: Hashable, Sendable {
    private let payload: ByteBuffer

    /// Encodes a record.
    package init(_ record: Record) {
        var payload = ByteBuffer()
        record.encode(into: &payload)
        self.payload = payload
    }

    /// A part of a payload, which the message retains.
    init(_ message: consuming MessageReader, in payload: ByteBuffer) {
        let range = message.range
        let part = payload.getSlice(at: payload.readerIndex + range.lowerBound, length: range.count)
        self.payload = part ?? ByteBuffer()
    }

    /// Bytes of the message.
    package var byteCount: Int { self.payload.readableBytes }

    /// Reads the record.
    ///
    /// - Throws: The sender's fault, if the message is malformed.
    package func record() throws(WireError) -> Record {
        try Record(MessageReader(self.payload, "record"))
    }

    /// Reads one of several records, or a record without fields if they are malformed: the server's
    /// disk damaged it.
    ///
    /// - Parameter texts: The texts of the records before it.
    /// - Returns: The record, and the types of its values; `nil` if the fields are malformed.
    /// - Throws: The sender's fault, if the message is malformed.
    package func reading(
        _ texts: inout SharedTexts
    ) throws(WireError) -> (record: Record, contents: BodyContents?) {
        do throws(WireError) {
            var contents = BodyContents()
            let record = try Record(MessageReader(self.payload, "record"), &texts, &contents)
            return (record, contents)
        } catch {
            guard error == WireError(.malformed, field: "fields") else { throw error }
            return (try Record.damaged(MessageReader(self.payload, "record")), nil)
        }
    }

    func append(to buffer: inout ByteBuffer) { buffer.writeImmutableBuffer(self.payload) }
}

/// Texts of the record that was read last: most records of a page have the same, so that each is
/// allocated once.
package struct SharedTexts: Sendable {
    var zoneName = ""
    var ownerName = ""
    var recordType = ""
    var user = ""

    package init() {}
}
