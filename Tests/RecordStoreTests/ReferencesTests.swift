import RecordModel
import RecordStore
import StorageContract
import Testing

struct ReferencesTests {
    @Test
    func `only references with an action and the parent keep a record`() {
        let body = RecordBody([
            Field(name: "a", value: .reference(Reference(recordName: "x", action: .none))),
            Field(name: "b", value: .reference(Reference(recordName: "y", action: .deleteSelf))),
            Field(
                name: "c",
                value: .referenceList([
                    Reference(recordName: "y", action: .validate),
                    Reference(recordName: "z", action: .validate),
                ])
            ),
            Field(name: "d", value: .string("w")),
        ])
        #expect(
            References(body: body, parent: "z").kinds == [
                ExactName("y"): [.deleteSelf, .validate], ExactName("z"): [.validate, .parent],
            ]
        )
        #expect(References(body: .empty, parent: nil).isEmpty)
    }
}
