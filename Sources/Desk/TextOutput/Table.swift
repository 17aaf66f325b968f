/// Lines with aligned columns.
package struct Table {
    /// The side to which a column is aligned.
    package enum Alignment { case left, right }

    /// A cell: a text, and its colour.
    package struct Cell {
        let text: String
        let highlight: (String) -> String

        /// Creates a cell.
        package init(text: String, highlight: @escaping (String) -> String = { $0 }) {
            self.text = text
            self.highlight = highlight
        }
    }

    private let alignments: [Alignment]
    private var rows: [[Cell]] = []

    /// Creates a table without lines.
    package init(_ alignments: Alignment...) {
        self.alignments = alignments
    }

    /// Adds a line.
    package mutating func add(_ cells: Cell...) {
        rows.append(cells)
    }

    /// Adds a line of plain texts.
    package mutating func add(_ texts: String...) {
        rows.append(texts.map { Cell(text: $0) })
    }

    /// Renders the lines, indented, without trailing spaces.
    package func lines(indentation: Int = 2) -> [String] {
        let widths = alignments.indices.map { index in
            rows.map { $0.indices.contains(index) ? $0[index].text.count : 0 }.max() ?? 0
        }
        return rows.map { row in
            let last = row.lastIndex { !$0.text.isEmpty } ?? 0
            let cells = row.prefix(last + 1).enumerated().map { index, cell in
                let blanks = String(repeating: " ", count: widths[index] - cell.text.count)
                let text = cell.highlight(cell.text)
                switch alignments[index] {
                case .right: return blanks + text
                case .left: return index == last ? text : text + blanks
                }
            }
            return String(repeating: " ", count: indentation) + cells.joined(separator: "  ")
        }
    }

    /// Prints the lines.
    package func print(indentation: Int = 2) {
        for line in lines(indentation: indentation) { Swift.print(line) }
    }
}
