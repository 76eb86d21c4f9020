import RecordModel
import Testing

@Suite struct SystemFieldTests {
    @Test(arguments: SystemField.allCases)
    func `a system field is found by its name`(field: SystemField) {
        #expect(SystemField(rawValue: field.rawValue) == field)
    }

    @Test(arguments: ["", "_", "___", "___other", "___recordI", "___recordIDs", "recordID", "__createTime"])
    func `another name is none`(name: String) {
        #expect(SystemField(rawValue: name) == nil)
    }
}
